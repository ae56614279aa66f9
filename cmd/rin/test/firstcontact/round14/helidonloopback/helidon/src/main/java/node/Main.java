package node;

import io.helidon.common.http.Http;
import io.helidon.webserver.*;
import jakarta.json.Json;
import jakarta.json.JsonObject;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;

/** The node of the University of Hallgrund: authorization server, info and funding API on one port. */
public final class Main {
    static final String NODE = System.getenv().getOrDefault("NODE", "helidon-base");
    static final int PORT = Integer.parseInt(System.getenv().getOrDefault("PORT", "8080"));
    static final String BASE = "http://127.0.0.1:" + PORT;
    private static final String REALM = "/auth/realms/hallgrund/protocol/openid-connect";
    private static final Logger LOG = Logger.getLogger("node");

    public static void main(String[] args) {
        List<String> role = List.of(Auth.ROLE);
        Auth production = new Auth(BASE + "/auth/realms/hallgrund", "urn:uh:ris", List.of(
            new Auth.Client("ernte-portal", "Xk%7+/Quitte=&:~!aQ9", "svc-1201", "AFF-HG-01", role, "urn:uh:ris"),
            new Auth.Client("gast:leser", "g&=P~%2Bnull!:/+Zaun", "svc-1202", "AFF-HG-02", List.of(), "urn:uh:ris"),
            new Auth.Client("bibliothek", "B!ch~er/=%%&+:regal7", "svc-1203", "AFF-HG-03", role, "urn:uh:bibliothek"),
            new Auth.Client("reserve+1", "~Res:e%r=v/e&2!+kk", "svc-1204", "AFF-HG-04", role, "urn:uh:ris")));
        Auth staging = new Auth(BASE + "/staging/oauth", "urn:uh:ris-staging", List.of(
            new Auth.Client("probe-client", "Pr%o&b=e+:/~!s7aging", "svc-9001", "AFF-TEST", role, "urn:uh:ris-staging")));

        Routing.Builder routing = Routing.builder()
            .any((req, res) -> {
                int hosts = req.headers().all("Host").size();
                if (hosts > 1 || hosts == 0 && req.version() == Http.Version.V1_1) {
                    throw new Web.Problem(400, "request", "A request has one Host field.");
                }
                req.next();
            })
            .register("/uh/funding/v3", new Funding(production))
            .register(REALM, production)
            .register("/staging/oauth", staging)
            .register("/netz", (Service) rules -> Funding.read(rules, "/registry.json", Main::registry))
            .register("/uh/info/v1", (Service) rules -> Funding.read(rules, "/oauth/info", (req, res) -> info(req, res, production, "production")))
            .register("/staging/uh/info/v1", (Service) rules -> Funding.read(rules, "/oauth/info", (req, res) -> info(req, res, staging, "staging")))
            .register("/uh/docs", (Service) rules -> Funding.read(rules, "/", (req, res) ->
                Web.sendCacheable(req, res, "text/html; charset=utf-8", resource("docs.html"), null, null, "public, max-age=60")))
            .register("/uh/try-out/funding/v3", (Service) rules -> {
                Funding.read(rules, "/calls", (req, res) -> Web.send(req, res, 200, Web.JSON, resource("sample-list.json")));
                Funding.read(rules, "/calls/SAMPLE-1", (req, res) -> Web.send(req, res, 200, Web.JSON, resource("sample-call.json")));
            })
            .any((req, res) -> {
                throw new Web.Problem(404, "not-found", "There is nothing at this address.");
            })
            .error(Web.Problem.class, Web::problem)
            .error(HttpException.class, (req, res, e) -> Web.problem(req, res, new Web.Problem(e.status().code(), "request", e.status().reasonPhrase())))
            .error(Throwable.class, (req, res, e) -> {
                LOG.log(Level.SEVERE, "unexpected", e);
                Web.problem(req, res, new Web.Problem(500, "internal", "The node could not answer. The fault has been logged."));
            });

        WebServer.builder()
            .bindAddress("127.0.0.1")
            .port(PORT)
            .maxPayloadSize(16_384)
            .directHandler(Main::direct, DirectHandler.EventType.values())
            .routing(routing.build())
            .build()
            .start()
            .await();
    }

    /** Requests that never reach the routing, as an address that is no URI. */
    private static DirectHandler.TransportResponse direct(DirectHandler.TransportRequest request, DirectHandler.EventType event,
                                                          Http.ResponseStatus status, String message) {
        Web.Problem p = new Web.Problem(status.code(), "request", "The request could not be read.");
        return DirectHandler.TransportResponse.builder().status(Http.ResponseStatus.create(status.code()))
            .header("Content-Type", "application/problem+json").header("Cache-Control", "no-store")
            .header("Date", Web.HTTP_DATE.format(Instant.now().atZone(java.time.ZoneOffset.UTC)))
            .entity(Web.bytes(Web.body(p))).build();
    }

    private static void registry(ServerRequest req, ServerResponse res) {
        JsonObject member = Json.createObjectBuilder().add("id", "UHG").add("acronym", "UHG").add("name", "Universität Hallgrund").add("contact", "ris@hallgrund.example")
            .add("oauth2", BASE + REALM + "/token").add("info", BASE + "/uh/info/v1/oauth/info/").build();
        byte[] body = Web.bytes(Json.createObjectBuilder().add("member", Json.createArrayBuilder().add(member)).build());
        Web.sendCacheable(req, res, Web.JSON, body, null, null, "public, max-age=60");
    }

    private static void info(ServerRequest req, ServerResponse res, Auth auth, String environment) {
        Auth.Caller caller = auth.authenticate(req);
        Auth.require(caller, "info.read", null);
        Web.negotiate(req, Web.JSON);
        JsonObject funding = Json.createObjectBuilder().add("name", "FUNDINGS").add("majorVersion", 3).add("minorVersion", 2)
            .add("url", BASE + "/uh/funding/v3/calls").build();
        JsonObject body = Json.createObjectBuilder().add("endpoints", Json.createObjectBuilder().add("funding", Json.createArrayBuilder().add(funding)))
            .add("node", "UHG").add("environment", environment).add("clientId", caller.clientId())
            .add("serviceAccountUserId", caller.account()).add("affiliationId", caller.affiliation())
            .add("roles", Json.createArrayBuilder(caller.roles())).add("scope", String.join(" ", caller.scopes()))
            .add("tokenExpires", Instant.ofEpochSecond(caller.expires()).toString()).build();
        res.headers().put("Cache-Control", "no-store");
        Web.send(req, res, 200, Web.JSON, Web.bytes(body));
    }

    static byte[] resource(String name) {
        try (InputStream in = Main.class.getResourceAsStream("/" + name)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).replace("${BASE}", BASE).getBytes(StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Main() { }
}
