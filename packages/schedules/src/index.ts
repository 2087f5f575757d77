export { parseCron, type CronExpression, type CronFields, type CronInterval, type CronParse } from "./cron-expression.js";
export { cronRecurrence, intervalRecurrence, latestOccurrence, type Recurrence } from "./recurrence.js";
export { scheduleRecurrence } from "./schedule-recurrence.js";
export { isTimeZone, TimeZones } from "./time-zone.js";
