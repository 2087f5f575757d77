export { isTime } from "./timestamp/time-range.js";
