import type { ContainerStatus, Pod } from "../pod-types.js";

export function parseTime(text: string | null | undefined): Date | undefined {
  if (text === undefined || text === null || text === "") return undefined;
  const time = new Date(text);
  return Number.isNaN(time.getTime()) ? undefined : time;
}

/** Time at which a container of the pod last started or ended. */
export function lastContainerTransition({ status }: Pod): Date | undefined {
  const statuses = [...(status?.containerStatuses ?? []), ...(status?.initContainerStatuses ?? [])];
  return statuses
    .map(containerTransition)
    .filter((time) => time !== undefined)
    .reduce<Date | undefined>((latest, time) => (latest === undefined || time > latest ? time : latest), undefined);
}

function containerTransition({ state }: ContainerStatus): Date | undefined {
  return parseTime(state?.running?.startedAt) ?? parseTime(state?.terminated?.finishedAt);
}
