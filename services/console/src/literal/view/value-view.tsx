import { formatCount } from "../../format/count.js";
import type { LiteralJson } from "@flyte-ts/idl/flyteidl/core/literals_pb";
import { type ReactNode, useState } from "react";
import { Button } from "../../control/button.js";
import { Copy } from "../../control/copy.js";
import { isGiven } from "../../format/given.js";
import { plainData } from "../convert/plain-data.js";
import { type Data, isDataList, isDataObject } from "../data/data.js";
import { formatDataLines } from "../data/json-text.js";
import { literalText } from "../literal-text.js";
import { AddressView } from "./address-view.js";
import { DataTree } from "./data-tree.js";
import { ObjectTable } from "./object-table.js";
import styles from "./value-view.module.css";

/** Longest text that is shown at once, characters. */
const MAX_SHOWN = 20_000;
/** Times and durations stay texts. */
const FORMS = { dateTime: (json: string) => json, duration: (json: string) => json };

/** Value of any kind: text as it is, data as table or tree, an address with its download. */
export function ValueView({ literal, name }: { readonly literal: LiteralJson; readonly name: string }) {
  const { blob, structuredDataset, schema, union } = literal.scalar ?? {};
  if (isGiven(union?.value)) return <ValueView literal={union.value} name={name} />;
  if (isGiven(blob)) {
    const { format = "", dimensionality } = blob.metadata?.type ?? {};
    return <AddressView address={blob.uri ?? ""} format={format} isFile={dimensionality !== "MULTIPART"} name={name} />;
  }
  if (isGiven(structuredDataset)) {
    const { format = "", columns = [] } = structuredDataset.metadata?.structuredDatasetType ?? {};
    return (
      <AddressView address={structuredDataset.uri ?? ""} format={format} columns={columns.map((column) => column.name ?? "")} name={name} />
    );
  }
  if (isGiven(schema)) {
    const columns = (schema.type?.columns ?? []).map((column) => column.name ?? "");
    return <AddressView address={schema.uri ?? ""} format="" columns={columns} name={name} />;
  }
  const data = isGiven(literal.scalar?.primitive) ? undefined : plainData(literal, FORMS);
  const text = data === undefined || data === null ? literalText(literal).text : formatDataLines(data);
  return (
    <Large text={text} name={name}>
      {data === undefined || data === null || typeof data !== "object" ? (
        <pre className={styles.text}>{text}</pre>
      ) : (
        <DataView data={data} />
      )}
    </Large>
  );
}

/** List of objects as a table, other data as a tree. */
function DataView({ data }: { readonly data: Data }) {
  const isTable = isDataList(data) && data.length > 0 && data.every((item) => isDataObject(item));
  return isTable ? <ObjectTable rows={data.filter((item) => isDataObject(item))} /> : <DataTree data={data} />;
}

interface LargeProps {
  readonly text: string;
  readonly name: string;
  readonly children: ReactNode;
}

/** Value with its copy; a large one is shown when someone asks for it. */
function Large({ text, name, children }: LargeProps) {
  const [isShown, setShown] = useState(text.length <= MAX_SHOWN);
  return (
    <div className={styles.value}>
      <div className={styles.content}>
        {isShown ? (
          children
        ) : (
          <Button small onClick={() => setShown(true)}>{`Show ${formatCount(Math.round(text.length / 1_000))} KB`}</Button>
        )}
      </div>
      <Copy text={text} label={name} />
    </div>
  );
}
