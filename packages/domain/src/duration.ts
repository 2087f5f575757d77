export { goDuration, nanosecondsOf, parseGoDuration } from "./duration/go-duration.js";
