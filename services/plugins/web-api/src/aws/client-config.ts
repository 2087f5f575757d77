/** Access to an AWS service. Credentials are those of the environment (the default chain). */
export interface AwsAccess {
  /** Absent: AWS_REGION of the environment. */
  readonly region?: string | undefined;
  /** Absent: AWS itself. */
  readonly endpoint?: string | undefined;
}

/** Options of an SDK's client. The client does not retry calls, since this service does. */
export function awsClientConfig({ region, endpoint }: AwsAccess) {
  return {
    maxAttempts: 1,
    ...(region !== undefined && { region }),
    ...(endpoint !== undefined && { endpoint }),
  };
}

/** Host of the console for a region: partitions have hosts of their own. */
export function consoleHost(region: string): string {
  if (region.startsWith("us-gov-")) return "console.amazonaws-us-gov.com";
  return region.startsWith("cn-") ? "console.amazonaws.cn" : "console.aws.amazon.com";
}
