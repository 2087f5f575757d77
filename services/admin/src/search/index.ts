export { searchRpcs } from "./rpc.js";
