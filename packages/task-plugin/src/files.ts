// Files of an attempt: inputs, the template of its task, the results at its output prefix,
// and the records of external jobs
export { AttemptRecords, type RecordFormat, type RecordStore } from "./files/attempt-records.js";
export {
  decodeRecordedAttempt,
  encodeRecordedAttempt,
  isOwnedBy,
  type RecordedAttempt,
  recordedAttempt,
} from "./files/recorded-attempt.js";
export { readInputsFile, writeInputsFile, writeTaskTemplate } from "./files/inputs.js";
export { asFileError, errorFailure, fileTooLarge, malformedErrorFile, malformedOutputs, outputsNotFound } from "./files/failures.js";
export { MAX_ERROR_ELEMENTS, type OutputsFile, readErrorFile, readOutputsFile, type ResultLimits } from "./files/results.js";
