import type { Answer, Question, QuestionKind, QuestionOf, ValueOf } from "../../engine/ask/question.js";

/** Executes calls of one kind. A rejection counts as a transient error. */
export type Answerer<K extends QuestionKind> = (question: QuestionOf<K>) => Promise<Answer<ValueOf<K>>>;

/** One handler for each kind of call. */
export type Answerers = { readonly [K in QuestionKind]: Answerer<K> };

/** Executes a call of any kind; never rejects. */
export async function answerWith(answerers: Answerers, question: Question): Promise<Answer> {
  try {
    return await (answerers[question.kind] as Answerer<typeof question.kind>)(question as never);
  } catch (error) {
    return { kind: "error", message: String(error) };
  }
}
