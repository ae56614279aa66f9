// Puts a button beside everything that is made to be copied.
"use strict";

for (const code of document.querySelectorAll("pre code, dd code")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  const said = (text) => {
    button.textContent = text;
    setTimeout(() => (button.textContent = "Copy"), 1500);
  };
  button.addEventListener("click", () => {
    // Browsers have a clipboard on loopback and over https only; elsewhere the text is selected, to be copied by hand.
    if (!navigator.clipboard) {
      getSelection().selectAllChildren(code);
      return;
    }
    navigator.clipboard.writeText(code.textContent).then(() => said("Copied"), () => said("Not allowed"));
  });
  code.parentElement.append(button);
}
