/**
 * Models to work out the traffic of training for. The list is JSON, because the pages read it as
 * well; see training_macros.py.
 *
 * @typedef {object} Model
 * @property {string} slug
 * @property {string} title
 * @property {number} parameters
 * @property {number} layers
 * @property {number} hidden  width of the activations between the layers
 * @property {number} moe  layers whose feed-forward part is split into experts
 * @property {number} chosen  experts that a token is sent to
 * @property {{text: string, url: string}} source
 */

/** @type {Model[]} */
export const MODELS = [
  {
    "slug": "llama-3.1-8b",
    "title": "Llama 3.1 8B",
    "parameters": 8030261248,
    "layers": 32,
    "hidden": 4096,
    "moe": 0,
    "chosen": 0,
    "source": {
      "text": "pytorch/torchtune，llama3_1_8b",
      "url": "https://github.com/pytorch/torchtune/blob/1934adb09e471b919f587f355bca067831878cc6/torchtune/models/llama3_1/_model_builders.py"
    }
  },
  {
    "slug": "llama-3.1-70b",
    "title": "Llama 3.1 70B",
    "parameters": 70553706496,
    "layers": 80,
    "hidden": 8192,
    "moe": 0,
    "chosen": 0,
    "source": {
      "text": "pytorch/torchtune，llama3_1_70b",
      "url": "https://github.com/pytorch/torchtune/blob/1934adb09e471b919f587f355bca067831878cc6/torchtune/models/llama3_1/_model_builders.py"
    }
  },
  {
    "slug": "mixtral-8x7b",
    "title": "Mixtral 8x7B",
    "parameters": 46702792704,
    "layers": 32,
    "hidden": 4096,
    "moe": 32,
    "chosen": 2,
    "source": {
      "text": "Jiang 等，Mixtral of Experts，arXiv:2401.04088，表 1",
      "url": "https://arxiv.org/abs/2401.04088"
    }
  },
  {
    "slug": "deepseek-v3",
    "title": "DeepSeek-V3",
    "parameters": 671000000000,
    "layers": 61,
    "hidden": 7168,
    "moe": 58,
    "chosen": 8,
    "source": {
      "text": "DeepSeek-V3 Technical Report，arXiv:2412.19437，第 4.2 节",
      "url": "https://arxiv.org/abs/2412.19437"
    }
  }
];
