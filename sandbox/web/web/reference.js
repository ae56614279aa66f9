// Starts Swagger UI on the document that the page names.
"use strict";

// Swagger UI sends client credentials as a Basic header; the network's interface has them in the body of the token request (NET-R9). A
// refused Basic header would make the browser itself ask for a password, too.
const credentialsInBody = () => ({
  statePlugins: {
    auth: {
      wrapActions: {
        authorizeApplication: (_, system) => (auth) => {
          const body = new URLSearchParams({
            grant_type: "client_credentials",
            client_id: auth.clientId,
            client_secret: auth.clientSecret,
          });
          if (auth.scopes.length > 0) {
            body.set("scope", auth.scopes.join(" "));
          }
          return system.authActions.authorizeRequest({ url: auth.schema.get("tokenUrl"), name: auth.name, auth, body: body.toString() });
        },
      },
    },
  },
});

// Swagger UI fills every field with the example of the document. Filters hold together, so a list would come out empty: they stay empty
// until somebody fills them. What is required is filled, and numbers, which ask for the first page.
const filtersStayEmpty = () => ({
  statePlugins: {
    spec: {
      wrapSelectors: {
        parameterWithMetaByIdentity: (original) => (_, ...of) => {
          const parameter = original(...of);
          const filled = !parameter || parameter.get("required") || parameter.getIn(["schema", "type"]) === "integer";
          return filled ? parameter : parameter.delete("example");
        },
      },
    },
  },
});

// Colouring a list of some hundred calls takes a browser many seconds; long answers are shown as they are.
const longAnswersPlain = ({ React }) => ({
  wrapComponents: {
    SyntaxHighlighter: (Original, { getComponent }) => (props) => {
      if (props.children.length < 100_000) {
        return React.createElement(Original, props);
      }
      const PlainTextViewer = getComponent("PlainTextViewer");
      return props.renderPlainText({ children: props.children, PlainTextViewer });
    },
  },
});

// The summary of an operation is a button, and the address in it is a link; a control within a control cannot be reached with every screen reader.
const summariesWithoutLinks = ({ React }) => ({
  wrapComponents: {
    DeepLink: (Original) => (props) => props.path.includes("/") ? React.createElement("span", null, props.text) : React.createElement(Original, props),
  },
});

// Swagger UI gives its fields and copy buttons no names, and its long lines cannot be scrolled by keyboard.
const accessible = new MutationObserver(() => {
  const each = (selector, change) => document.querySelectorAll(selector).forEach(change);
  each("#servers:not([aria-label])", (list) => list.setAttribute("aria-label", "Server"));
  each("tr[data-param-name] :is(select, input, textarea):not([aria-label])", (field) => field.setAttribute("aria-label", field.closest("tr").dataset.paramName));
  each(".copy-to-clipboard button:not([aria-label])", (button) => button.setAttribute("aria-label", "Copy"));
  each(".examples-select-element:not([aria-label])", (list) => list.setAttribute("aria-label", "Example"));
  each("button.close-modal:not([aria-label])", (button) => button.setAttribute("aria-label", "Close"));
  each(".auth-btn-wrapper .authorize[aria-label]", (button) => button.removeAttribute("aria-label")); // other words than those on the button
  each("pre.microlight:not([tabindex])", (text) => text.setAttribute("tabindex", "0"));
});

const reference = document.getElementById("reference");

accessible.observe(reference, { childList: true, subtree: true });

SwaggerUIBundle({
  domNode: reference,
  url: reference.dataset.document,
  plugins: [credentialsInBody, filtersStayEmpty, longAnswersPlain, summariesWithoutLinks],
  layout: "BaseLayout",
  deepLinking: true,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
  // Secrets and tokens end with the page, nobody outside is asked about the document, and no address changes these settings.
  persistAuthorization: false,
  validatorUrl: "none",
  queryConfigEnabled: false,
});
