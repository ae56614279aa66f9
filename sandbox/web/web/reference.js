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

const reference = document.getElementById("reference");

SwaggerUIBundle({
  domNode: reference,
  url: reference.dataset.document,
  plugins: [credentialsInBody, filtersStayEmpty, longAnswersPlain],
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
