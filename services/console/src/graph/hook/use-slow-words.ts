import { useEffect, useState } from "react";

/** Time between two texts that are spoken. */
const PAUSE_MS = 2_000;

/** Returns a text that changes with the given one, but not more often than can be listened to. */
export function useSlowWords(text: string): string {
  const [spoken, setSpoken] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSpoken(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return spoken;
}
