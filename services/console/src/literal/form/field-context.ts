import { createContext, useContext } from "react";
import type { FormValue } from "../form-value.js";

/** Puts chosen files into the blob store. Resolves to their address. */
export type UploadFiles = (files: readonly File[], progress: (share: number) => void, signal: AbortSignal) => Promise<string>;

/** Facts that all fields of a form share. */
export interface FieldContextValue {
  /** Broken rules by the path of their fields. */
  readonly problems: ReadonlyMap<string, string>;
  /** Zone in which new times are entered, by its IANA name. */
  readonly zone: string;
  readonly nowMs: number;
  /** Undefined where files cannot be uploaded. */
  readonly upload?: UploadFiles | undefined;
  /** Paths of the values whose upload runs. */
  readonly uploads?: ReadonlySet<string>;
  /** Reports that an upload began or ended. */
  onUpload?(path: string, isRunning: boolean): void;
}

export const FieldContext = createContext<FieldContextValue>({ problems: new Map(), zone: "UTC", nowMs: 0 });

/** Control of one value. */
export interface ValueProps<Type> {
  readonly type: Type;
  /** Undefined for no value. */
  readonly value: FormValue | undefined;
  /** Names and indexes from the input to the value, joined by points. */
  readonly path: string;
  /** Name for assistive technology. */
  readonly label: string;
  readonly placeholder?: string | undefined;
  /** Value from which the form began, which marks what differs. */
  readonly base?: FormValue | undefined;
  onChange(value: FormValue): void;
}

/** Attributes that tie a control to its path and its broken rule. */
export function useControlProps(path: string, label: string) {
  const { problems } = useContext(FieldContext);
  const isWrong = problems.has(path);
  return {
    id: `value-${path}`,
    "aria-label": label,
    "aria-invalid": isWrong || undefined,
    "aria-describedby": isWrong ? `problem-${path}` : undefined,
  };
}

/** Reports whether an upload runs below a path: its value must keep its index. */
export function useHasUpload(path: string): boolean {
  const { uploads = new Set<string>() } = useContext(FieldContext);
  return [...uploads].some((each) => each.startsWith(`${path}.`));
}

/** Reports whether a value differs from the one from which its form began. */
export function isChanged(value: FormValue | undefined, base: FormValue | undefined): boolean {
  return base !== undefined && JSON.stringify(value) !== JSON.stringify(base);
}
