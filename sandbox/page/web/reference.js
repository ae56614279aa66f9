// Starts Swagger UI on the document that the page names.
"use strict";

// Swagger UI sends client credentials as a Basic header; the network's interface has them in the body of the token request (NET-R9).
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

// Swagger UI fills every field with the example of the document. Filters hold together, so a list would come out empty: what is optional
// stays empty until somebody fills it.
const optionalStaysEmpty = () => ({
  statePlugins: {
    spec: {
      wrapSelectors: {
        parameterWithMetaByIdentity: (original) => (state, ...of) => {
          const parameter = original(state, ...of);
          return parameter && !parameter.get("required") ? parameter.delete("example") : parameter;
        },
      },
    },
  },
});

const reference = document.getElementById("reference");

SwaggerUIBundle({
  domNode: reference,
  url: reference.dataset.document,
  plugins: [credentialsInBody, optionalStaysEmpty],
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
