// Checks messages by the validators that npm's vda-5050-lib ships for 2.0: {kind: [message, …]} on standard input.
// Prints a list of [kind, number, what is wrong].
const validators = require(process.argv[2] + "/common/vda-5050-validators-2.0.js");
let text = "";
process.stdin.on("data", (chunk) => (text += chunk));
process.stdin.on("end", () => {
  const wrong = [];
  for (const [kind, messages] of Object.entries(JSON.parse(text))) {
    const validate = validators["validate" + kind];
    messages.forEach((message, number) => {
      if (!validate(message)) wrong.push([kind, number, JSON.stringify(validate.errors)]);
    });
  }
  console.log(JSON.stringify(wrong));
});
