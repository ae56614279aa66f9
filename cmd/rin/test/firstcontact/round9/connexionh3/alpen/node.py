"""A node of the network, made with Connexion."""
import copy
import logging
import pathlib

import connexion
import uvicorn
import yaml
from connexion.exceptions import BadRequestProblem, OAuthProblem, ProblemException
from connexion.lifecycle import ConnexionResponse
from connexion.options import SwaggerUIOptions
from connexion.problem import problem
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.routing import Route

import authserver
import models
import security
from edge import Edge
from settings import NODE, ORIGIN, PORT

HERE = pathlib.Path(__file__).parent


def load(name, **values):
    text = (HERE / name).read_text(encoding="utf-8").replace("__ORIGIN__", ORIGIN)
    for key, value in values.items():
        text = text.replace(f"__{key}__", value)
    return yaml.safe_load(text)


def public(value):
    """A copy of a document for readers: no Connexion extensions, no module names."""
    if isinstance(value, list):
        return [public(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {key: item.rpartition(".")[2] if key == "operationId" else public(item)
            for key, item in value.items() if not str(key).startswith("x-")}


def oauth_problem(request, exc):
    """Connexion's own complaints about the Authorization header, with a challenge."""
    present = bool(request.headers.get("authorization"))
    bearer = request.headers.get("authorization", "").split(" ")[0].lower() == "bearer"
    error = "invalid_token" if present and bearer else None
    return problem(401, "Unauthorized", "A valid access token is needed", headers={
        "WWW-Authenticate": security.challenge(error), "Cache-Control": "no-store"})


def bad_request(request, exc):
    return problem(400, "Bad Request", str(exc.detail).split("\n")[0])


def make_api():
    app = connexion.AsyncApp(__name__, specification_dir=str(HERE),
                             swagger_ui_options=SwaggerUIOptions(swagger_ui=False, serve_spec=False))
    funding = load("funding.yaml")
    routed = copy.deepcopy(funding)
    if NODE == "connexion-stages":
        routed["paths"]["/v3/fundings/{fundingId}/stages"]["get"]["security"] = [
            {"clientCredentials": []}]
    app.add_api(routed, base_path="/ris-synergy/funding", name="funding", strict_validation=True)
    for name, base, path, function in (
            ("info", "/ris-synergy/info", authserver.production.token_path,
             "security.production_token"),
            ("staging_info", "/staging/ris-synergy/info", authserver.staging.token_path,
             "security.staging_token")):
        app.add_api(load("info.yaml", BASE=base, TOKEN_PATH=path, TOKEN_FUNC=function),
                    base_path=base, name=name)
    app.add_error_handler(OAuthProblem, oauth_problem)
    app.add_error_handler(BadRequestProblem, bad_request)
    return app, public(funding)


api_app, document = make_api()


async def api_docs(request):
    return JSONResponse(document)


async def registry(request):
    return JSONResponse({"member": [{
        "id": "ALP", "acronym": "AFF", "name": "Alpenforschungsfonds – Datenstelle",
        "contact": "daten@alpenforschung.example",
        "oauth2": ORIGIN + authserver.production.token_path,
        "info": f"{ORIGIN}/ris-synergy/info/v1/oauth/info/"}]})


async def http_error(request, exc):
    return JSONResponse({"type": "about:blank", "title": exc.detail, "status": exc.status_code},
                        status_code=exc.status_code, headers=exc.headers,
                        media_type="application/problem+json")


plain_app = Starlette(
    routes=[*authserver.production.routes(), *authserver.staging.routes(),
            Route("/registry.json", registry), Route("/ris-synergy/funding/v3/api-docs", api_docs)],
    exception_handlers={HTTPException: http_error})
PLAIN_PATHS = {route.path for route in plain_app.routes}


async def dispatch(scope, receive, send):
    """Authorization servers and static documents here, the APIs in Connexion."""
    plain = scope["type"] == "http" and scope["path"] in PLAIN_PATHS
    await (plain_app if plain else api_app)(scope, receive, send)


if __name__ == "__main__":
    logging.basicConfig(level=logging.ERROR)
    models.fill()
    uvicorn.run(Edge(dispatch), host="127.0.0.1", port=PORT, log_level="error",
                server_header=False)
