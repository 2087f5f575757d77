import type { JobState, RemoteJobs } from "./remote-jobs.fixture.js";
import type { Api } from "./stand-in-server.fixture.js";

const ARN = "arn:aws:sagemaker:us-east-1:123456789012";
const TRAINING: Record<JobState, string> = {
  pending: "InProgress",
  running: "InProgress",
  succeeded: "Completed",
  failed: "Failed",
  cancelled: "Stopped",
};

interface Names {
  readonly TrainingJobName: string;
  readonly EndpointName: string;
  readonly ModelName: string;
}

/** SageMaker's training jobs, endpoints and models. Names are the modes of jobs. */
export function sageMakerApi(jobs: RemoteJobs): Api {
  const trainingJob = (name: string) => {
    const state = jobs.read(`training ${name}`) ?? "failed";
    return {
      TrainingJobName: name,
      TrainingJobArn: `${ARN}:training-job/${name}`,
      TrainingJobStatus: TRAINING[state],
      SecondaryStatus: "Training",
      CreationTime: 1,
      ModelArtifacts: { S3ModelArtifacts: `s3://a-bucket/models/${name}/model.tar.gz` },
      ...(state === "failed" && { FailureReason: "AlgorithmError: no data" }),
    };
  };
  const endpoint = (name: string) => {
    const state = jobs.read(`endpoint ${name}`);
    if (state === undefined || state === "cancelled") return invalid(`Could not find endpoint "${name}".`);
    const status = state === "succeeded" ? "InService" : state === "failed" ? "Failed" : "Creating";
    const common = {
      EndpointName: name,
      EndpointArn: `${ARN}:endpoint/${name}`,
      EndpointConfigName: "a-config",
      CreationTime: 1,
      LastModifiedTime: 1,
    };
    return { body: { ...common, EndpointStatus: status, ...(state === "failed" && { FailureReason: "no capacity" }) } };
  };
  const calls: Record<string, (body: Names) => ReturnType<Api>> = {
    CreateTrainingJob: ({ TrainingJobName: name }) => {
      jobs.start(`training ${name}`, name);
      return { body: { TrainingJobArn: `${ARN}:training-job/${name}` } };
    },
    DescribeTrainingJob: ({ TrainingJobName: name }) => ({ body: trainingJob(name) }),
    StopTrainingJob: ({ TrainingJobName: name }) => {
      jobs.cancel(`training ${name}`);
      return { body: {} };
    },
    CreateEndpoint: ({ EndpointName: name }) => {
      jobs.start(`endpoint ${name}`, name);
      return { body: { EndpointArn: `${ARN}:endpoint/${name}` } };
    },
    DescribeEndpoint: ({ EndpointName: name }) => endpoint(name),
    DeleteEndpoint: ({ EndpointName: name }) => {
      jobs.cancel(`endpoint ${name}`);
      return { body: {} };
    },
    CreateModel: ({ ModelName: name }) =>
      name.startsWith("fail") ? invalid("the image does not exist") : { body: { ModelArn: `${ARN}:model/${name}` } },
  };
  return ({ headers, body }) => {
    const call = /^SageMaker\.(\w+)$/.exec(String(headers["x-amz-target"] ?? ""))?.[1];
    return call === undefined ? undefined : calls[call]?.(body as Names);
  };
}

function invalid(message: string) {
  return { status: 400, body: { __type: "ValidationException", message } };
}
