export { overviewRpcs } from "./rpc.js";
