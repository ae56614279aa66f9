package node;

import com.fasterxml.jackson.databind.ObjectMapper;
import jakarta.ws.rs.*;
import jakarta.ws.rs.container.*;
import jakarta.ws.rs.core.*;
import jakarta.ws.rs.ext.ExceptionMapper;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.*;
import java.util.logging.*;
import org.glassfish.grizzly.http.server.HttpHandler;
import org.glassfish.grizzly.http.server.HttpServer;
import org.glassfish.jersey.grizzly2.httpserver.GrizzlyHttpContainer;
import org.glassfish.jersey.message.internal.HeaderValueException;
import org.glassfish.jersey.server.*;

/** Lindach: a node of the research-information network, on Jersey and Grizzly. */
public class Main {
    static final String NODE = Objects.requireNonNullElse(System.getenv("NODE"), "");
    static final int PORT = Integer.parseInt(Objects.requireNonNullElse(System.getenv("PORT"), "8080"));
    static final String BASE = "http://127.0.0.1:" + PORT;
    static final String AUTH = BASE + "/auth/realms/lindach/protocol/openid-connect";
    static final ObjectMapper JSON = new ObjectMapper();

    static byte[] json(Object value) {
        try {
            return JSON.writeValueAsBytes(value);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** An ordered map with null values allowed. */
    static Map<String, Object> map(Object... pairs) {
        Map<String, Object> m = new LinkedHashMap<>();
        for (int i = 0; i < pairs.length; i += 2) m.put((String) pairs[i], pairs[i + 1]);
        return m;
    }

    /** An answer with an error in the documented form. */
    static Response fehler(int status, String code, String meldung, String feld) {
        Map<String, Object> m = map("fehler", code, "meldung", meldung);
        if (feld != null) m.put("feld", feld);
        return Response.status(status).type("application/json").header("Cache-Control", "no-store").entity(json(m)).build();
    }

    static class Ungueltig extends WebApplicationException {
        Ungueltig(String feld, String meldung) {
            super(fehler(400, "ungueltiger_parameter", meldung, feld));
        }
    }

    /** Whatever no resource has answered itself. */
    static class Fehler implements ExceptionMapper<Throwable> {
        @Override
        public Response toResponse(Throwable t) {
            if (t instanceof HeaderValueException) return fehler(400, "anfrage_fehlerhaft", "Ein Kopffeld ist nicht lesbar.", null);
            if (!(t instanceof WebApplicationException w)) {
                Logger.getLogger("lindach").log(Level.SEVERE, "unerwartet", t);
                return fehler(500, "interner_fehler", "Hier ist etwas schiefgegangen.", null);
            }
            Response r = w.getResponse();
            if (r.hasEntity() || r.getStatus() < 400) return r;
            String code = switch (r.getStatus()) {
                case 404 -> "nicht_gefunden";
                case 405 -> "methode_nicht_erlaubt";
                case 406 -> "nicht_annehmbar";
                default -> "anfrage_fehlerhaft";
            };
            Response f = fehler(r.getStatus(), code, r.getStatusInfo().getReasonPhrase(), null);
            Object allow = r.getHeaders().getFirst("Allow");
            if (allow == null) return f;
            return Response.fromResponse(f).header("Allow", allow.toString().replaceAll("(^|,)GET", "$1GET,HEAD")).build();
        }
    }

    /** Documents for everybody: registry, specification, reference, try-out. */
    @Path("/")
    public static class Oeffentlich {
        static Response dokument(Request request, String type, byte[] body) {
            EntityTag tag = Foerderungen.tag(body);
            Response.ResponseBuilder b = request.evaluatePreconditions(tag);
            if (b == null) b = Response.ok(body, type);
            return b.tag(tag).header("Cache-Control", "public, max-age=120").build();
        }

        @GET
        @Path("netz/verzeichnis")
        public Response verzeichnis(@Context Request request) {
            return dokument(request, "application/json", json(map("member", List.of(
                map("id", "LINDACH", "acronym", "TUL", "name", "Technische Universität Lindach", "contact", "ris@lindach.example", "oauth2", AUTH + "/token", "info", BASE + "/api/lindach/info/v1/oauth/info/")))));
        }

        @GET
        @Path("api/lindach/doku")
        public Response doku(@Context Request request) {
            return dokument(request, "text/html;charset=utf-8", ("<!doctype html><html lang=\"de\"><title>Lindach</title><h1>Förder-API</h1><p>"
                + "<a href=\"/api/lindach/funding/v3/api-docs\">Spezifikation (OpenAPI)</a><p>Probe ohne Token: <a href=\"/api/lindach/probe/foerderungen\">foerderungen</a></html>").getBytes(StandardCharsets.UTF_8));
        }

        @GET
        @Path("api/lindach/probe/foerderungen")
        public Response probe(@Context Request request) {
            return dokument(request, "application/json", json(List.of(map("kennung", "PROBE-1", "art", "ausschreibung", "titel", "Nur ein Beispiel", "stand", "offen",
                "geber", "PROBE", "gebiete", List.of("W"), "ab", "2026-01-01", "frist", null, "summe", null, "url", "/api/lindach/probe/foerderungen/PROBE-1"))));
        }

        @GET
        @Path("api/lindach/probe/foerderungen/PROBE-1")
        public Response eineProbe(@Context Request request) {
            return dokument(request, "application/json", json(map("kennung", "PROBE-1", "art", "ausschreibung", "titel", "Nur ein Beispiel", "stand", "offen",
                "geber", "PROBE", "gebiete", List.of("W"), "ab", "2026-01-01", "frist", null, "summe", null, "url", "/api/lindach/probe/foerderungen/PROBE-1",
                "kurztext", "Kein wirklicher Eintrag.", "themen", List.of("kunst"), "sprache", "de")));
        }

        @GET
        @Path(".well-known/oauth-authorization-server/auth/realms/lindach")
        public Response metadaten(@Context Request request) {
            List<String> arten = List.of("client_secret_basic", "client_secret_post");
            return dokument(request, "application/json", json(map("issuer", BASE + "/auth/realms/lindach", "token_endpoint", AUTH + "/token",
                "introspection_endpoint", AUTH + "/token/introspect", "revocation_endpoint", AUTH + "/revoke",
                "grant_types_supported", List.of("client_credentials"), "response_types_supported", List.of(), "scopes_supported", List.of("ris"),
                "token_endpoint_auth_methods_supported", arten, "introspection_endpoint_auth_methods_supported", arten, "revocation_endpoint_auth_methods_supported", arten)));
        }
    }

    /** The specification: a class of its own, for the path of the API's class is longer than that of the one above. */
    @Path("/api/lindach/funding/v3/api-docs")
    public static class Spezifikation {
        @GET
        public Response spec(@Context Request request) throws Exception {
            try (var in = Main.class.getResourceAsStream("/openapi.json")) {
                String text = new String(in.readAllBytes(), StandardCharsets.UTF_8).replace("{{base}}", BASE);
                if (NODE.equals("ahorn")) text = text.replace("A page has at most `limit` entries.", "A page has at most `limit` entries; it may have fewer, even none, although there is a next page.");
                return Oeffentlich.dokument(request, "application/json", text.getBytes(StandardCharsets.UTF_8));
            }
        }
    }

    public static void main(String[] args) throws Exception {
        Logger.getLogger("").setLevel(Level.SEVERE);
        ResourceConfig config = new ResourceConfig()
            .register(new Anmeldung("lindach", Anmeldung.PRODUKTION)).register(new Anmeldung.Test()).register(new Waechter()).register(new Annehmen())
            .register(new Oeffentlich()).register(new Spezifikation()).register(new Auskunft()).register(new Foerderungen()).register(new Fehler())
            .property(ServerProperties.WADL_FEATURE_DISABLE, true)
            .property(ServerProperties.RESPONSE_SET_STATUS_OVER_SEND_ERROR, true);
        GrizzlyHttpContainer jersey = ContainerFactory.createContainer(GrizzlyHttpContainer.class, config);
        HttpServer server = HttpServer.createSimpleServer(null, "127.0.0.1", PORT);
        server.getServerConfiguration().addHttpHandler(new Tuer(jersey), "/");
        server.getServerConfiguration().setPassTraceRequest(true);
        server.getServerConfiguration().setDefaultErrorPageGenerator((request, status, reason, text, t) ->
            new String(json(map("fehler", "anfrage_fehlerhaft", "meldung", reason)), StandardCharsets.UTF_8));
        server.start();
        Thread.currentThread().join();
    }

    /** Refuses request targets that are no URI before Jersey sees them. */
    static class Tuer extends HttpHandler {
        private final GrizzlyHttpContainer jersey;

        Tuer(GrizzlyHttpContainer jersey) {
            this.jersey = jersey;
            setAllowEncodedSlash(true);
        }

        @Override
        public void start() {
            super.start();
            jersey.start();
        }

        @Override
        public void service(org.glassfish.grizzly.http.server.Request request, org.glassfish.grizzly.http.server.Response response) throws Exception {
            response.setHeader("Date", DateTimeFormatter.RFC_1123_DATE_TIME.withLocale(Locale.ROOT).format(ZonedDateTime.now(ZoneOffset.UTC)).replaceFirst(", (\\d) ", ", 0$1 "));
            try {
                new URI(request.getRequestURI() + (request.getQueryString() == null ? "" : "?" + request.getQueryString()));
            } catch (URISyntaxException e) {
                byte[] body = json(map("fehler", "anfrage_fehlerhaft", "meldung", "Die Adresse ist keine URI."));
                response.setStatus(400);
                response.setContentType("application/json");
                response.setContentLength(body.length);
                response.getOutputStream().write(body);
                return;
            }
            jersey.service(request, response);
        }
    }

    /** Chooses the media type before the methods are matched: Jersey overlooks q=0. */
    @PreMatching
    static class Annehmen implements ContainerRequestFilter {
        @Override
        public void filter(ContainerRequestContext ctx) {
            String roh = ctx.getUriInfo().getRequestUri().getRawPath();
            if (roh.contains(";")) ctx.setRequestUri(UriBuilder.fromUri(ctx.getUriInfo().getRequestUri()).replacePath(roh.replace(";", "%3B")).build()); // no matrix parameters here
            List<String> felder = ctx.getHeaders().get("Accept");
            String pfad = ctx.getUriInfo().getPath();
            if (felder == null || !pfad.startsWith("api/lindach/funding/v3/") || pfad.endsWith("api-docs")) return;
            String accept = String.join(",", felder);
            if (accept.isBlank()) {
                ctx.getHeaders().remove("Accept");
                return;
            }
            double json = gewicht(accept, "application", "json"), csv = pfad.matches("api/lindach/funding/v3/foerderungen/?") ? gewicht(accept, "text", "csv") : 0;
            ctx.getHeaders().putSingle("Accept", json <= 0 && csv <= 0 ? "application/x-nothing" : csv > json ? "text/csv" : "application/json");
        }

        static double gewicht(String accept, String typ, String unter) {
            int genau = -1;
            double gewicht = 0;
            for (String teil : accept.split(",")) {
                String[] p = teil.trim().toLowerCase(Locale.ROOT).split("\\s*;\\s*");
                int g = p[0].equals(typ + "/" + unter) ? 2 : p[0].equals(typ + "/*") ? 1 : p[0].equals("*/*") ? 0 : -1;
                double q = 1;
                for (int i = 1; i < p.length; i++) {
                    try {
                        if (p[i].startsWith("q=")) q = Double.parseDouble(p[i].substring(2));
                    } catch (NumberFormatException e) {
                        q = 0;
                    }
                }
                if (g > genau) {
                    genau = g;
                    gewicht = q;
                }
            }
            return gewicht;
        }
    }
}
