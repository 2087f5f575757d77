export {
  APPLICATIONS,
  NAME_LABEL,
  ownerOf,
  SPARK_DEFINITIONS,
  type SparkApplication,
  type Submission,
  SUBMISSION_LABEL,
  type Submit,
} from "./spark/application.js";
export { startSparkOperator, type SparkOperatorOptions } from "./spark/operator.js";
export { sparkEnvironment, type SparkSubmit, type SparkSubmitOptions, startSparkSubmit } from "./spark/submit.js";
