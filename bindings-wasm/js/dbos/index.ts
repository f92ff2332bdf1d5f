/**
 * The entry `turnlatch/dbos`: runs on DBOS and PostgreSQL, on any number of machines. It needs
 * `npm install @dbos-inc/dbos-sdk pg`.
 *
 * A run is a row. A turn is a workflow on a queue whose global limit is the number of slots, and a timer is a delayed
 * workflow. One transaction takes an event, saves what the core made of it and enqueues what follows.
 */

export { type Beside, DbosDriver, type DbosOptions, type Transaction } from './driver.js';
