export { isTime } from "./timestamp/is-time.js";
