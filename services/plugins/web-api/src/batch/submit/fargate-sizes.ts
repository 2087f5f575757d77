export interface FargateSize {
  readonly vcpu: string;
  readonly mib: number;
}

interface Offer {
  readonly vcpu: string;
  readonly minMib: number;
  readonly maxMib: number;
  readonly stepMib: number;
}

const GIB = 1024;

/** Sizes of Fargate tasks. Source: AWS Batch API reference, ResourceRequirement. */
const OFFERS: readonly Offer[] = [
  { vcpu: "0.25", minMib: 512, maxMib: 512, stepMib: 512 },
  { vcpu: "0.25", minMib: GIB, maxMib: 2 * GIB, stepMib: GIB },
  { vcpu: "0.5", minMib: GIB, maxMib: 4 * GIB, stepMib: GIB },
  { vcpu: "1", minMib: 2 * GIB, maxMib: 8 * GIB, stepMib: GIB },
  { vcpu: "2", minMib: 4 * GIB, maxMib: 16 * GIB, stepMib: GIB },
  { vcpu: "4", minMib: 8 * GIB, maxMib: 30 * GIB, stepMib: GIB },
  { vcpu: "8", minMib: 16 * GIB, maxMib: 60 * GIB, stepMib: 4 * GIB },
  { vcpu: "16", minMib: 32 * GIB, maxMib: 120 * GIB, stepMib: 8 * GIB },
];

/** The smallest size with at least these resources; undefined when there is none. */
export function fargateSize(cpu: number, mib: number): FargateSize | undefined {
  const offer = OFFERS.find(({ vcpu, maxMib }) => Number(vcpu) >= cpu && maxMib >= mib);
  if (offer === undefined) return undefined;
  const { vcpu, minMib, stepMib } = offer;
  return { vcpu, mib: Math.max(minMib, minMib + Math.ceil((mib - minMib) / stepMib) * stepMib) };
}
