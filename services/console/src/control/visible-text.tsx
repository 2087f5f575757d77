import { Fragment } from "react";
import { splitDirectionMarks } from "../format/direction-marks.js";
import styles from "./visible-text.module.css";

/** Text whose marks of direction are shown by their names, so that they turn nothing. */
export function VisibleText({ text }: { readonly text: string }) {
  return splitDirectionMarks(text).map(({ text: part, isMark }, at) =>
    isMark ? (
      <i key={at} className={styles.mark} title="Character that changes the direction of text">
        {part}
      </i>
    ) : (
      <Fragment key={at}>{part}</Fragment>
    ),
  );
}
