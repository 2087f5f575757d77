// Files of an attempt: inputs, the template of its task, and what it leaves at its output prefix
export { readInputsFile, writeInputsFile, writeTaskTemplate } from "./files/inputs.js";
export { asFileError, errorFailure, fileTooLarge, malformedErrorFile, malformedOutputs, outputsNotFound } from "./files/failures.js";
export { MAX_ERROR_ELEMENTS, type OutputsFile, readErrorFile, readOutputsFile, type ResultLimits } from "./files/results.js";
