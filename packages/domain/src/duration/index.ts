export { goDuration, nanosecondsOf, parseGoDuration } from "./go-duration.js";
