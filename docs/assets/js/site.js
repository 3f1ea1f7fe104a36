/**
 * Everything that the pages of this site load. Another page needs collective-player.js alone.
 */
import './collective-player.js';
import './algorithm-table.js';
import './collective-race.js';
import './quiz-form.js';
import './schedule-playground.js';
import './training-traffic.js';
