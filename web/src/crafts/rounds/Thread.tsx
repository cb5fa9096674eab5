/** A question with those it goes on from, the oldest first, and a field to go on. */
import { get } from "@/api/client";
import { useFetched } from "@/live/hooks";
import { Loading, Refused } from "@/parts/Told";
import { AskField } from "./AskField";
import { isOpen, type Question, resultsOf } from "./results";
import { Turn } from "./Turn";

/** How far back a thread is read. */
const MOST_BEFORE = 12;

function useQuestion(id: string) {
  return useFetched(
    `question ${id}`,
    (signal) => get("/api/v1/questions/{question_id}", { path: { question_id: id }, signal }),
    (event) => event.about.questionId === id,
  );
}

export function Thread({ id }: { id: string }) {
  const { value: question, refusal } = useQuestion(id);
  if (question === undefined) return refusal ? <Refused refusal={refusal} /> : <Loading what="the question" />;
  return (
    <>
      {question.follows && <Before id={question.follows} depth={1} />}
      <Turn question={question} isLast />
      <section className="card padded">
        <AskField
          label="Go on from here"
          follows={id}
          examples={isOpen(question) ? [] : followUps(question)}
          whyNot={isOpen(question) ? "This question is still being answered." : null}
        />
      </section>
    </>
  );
}

function Before({ id, depth }: { id: string; depth: number }) {
  const { value: question, refusal } = useQuestion(id);
  if (question === undefined) return refusal ? <Refused refusal={refusal} /> : <Loading what="what came before" />;
  return (
    <>
      {question.follows && depth < MOST_BEFORE && <Before id={question.follows} depth={depth + 1} />}
      <Turn question={question} isLast={false} />
    </>
  );
}

/** What can be asked of this very answer: its next page, or the same otherwise divided. */
function followUps(question: Question): string[] {
  const results = resultsOf(question);
  if (results.length === 0) return [];
  const more = results.some((one) => (one.more ?? 0) > 0);
  const hourly = /\bper hour\b/i.test(question.text);
  return [...(more ? ["next page"] : []), ...(hourly ? ["and per day?"] : ["and per hour?"]), "and yesterday?"];
}
