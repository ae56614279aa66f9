package at.alpen.node;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.dropwizard.jersey.validation.JerseyViolationException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.validation.ConstraintViolation;
import jakarta.validation.Path;
import jakarta.ws.rs.ForbiddenException;
import jakarta.ws.rs.WebApplicationException;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import jakarta.ws.rs.ext.ExceptionMapper;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.handler.ErrorHandler;
import org.slf4j.LoggerFactory;

/** Problem details, RFC 9457. */
public class Fehler extends RuntimeException {
    final int status;
    final Map<String, String> felder = new LinkedHashMap<>();
    List<Map<String, String>> parameter;

    Fehler(int status, String text) {
        super(text);
        this.status = status;
    }

    Fehler mit(String name, String wert) {
        felder.put(name, wert);
        return this;
    }

    static Fehler parameter(String name, String grund) {
        Fehler f = new Fehler(400, "Ein Parameter ist unzulässig.");
        f.parameter = List.of(Map.of("name", name, "grund", grund));
        return f;
    }

    static Map<String, Object> inhalt(int status, String text, String pfad, List<Map<String, String>> parameter) {
        Map<String, Object> m = new LinkedHashMap<>();
        m.put("type", "about:blank");
        m.put("title", status == 500 ? "Internal Server Error" : HttpStatus.getMessage(status));
        m.put("status", status);
        m.put("detail", text);
        m.put("instance", pfad);
        if (parameter != null) {
            m.put("parameter", parameter);
        }
        return m;
    }

    static Response antwort(int status, String text, UriInfo uri, Map<String, String> felder, List<Map<String, String>> parameter) {
        var b = Response.status(status).type("application/problem+json").header("Cache-Control", "no-store")
            .header("Content-Language", "de").entity(inhalt(status, text, uri.getRequestUri().getRawPath(), parameter));
        felder.forEach(b::header);
        return b.build();
    }

    public static class Allgemein implements ExceptionMapper<Throwable> {
        @Context
        UriInfo uri;

        @Override
        public Response toResponse(Throwable e) {
            if (e instanceof Fehler f) {
                return antwort(f.status, f.getMessage(), uri, f.felder, f.parameter);
            }
            if (e instanceof ForbiddenException) {
                return antwort(403, "Diesem Konto fehlt die Rolle EXTERNAL_API_CLIENT.", uri, Map.of("WWW-Authenticate",
                    "Bearer realm=\"verbund\", error=\"insufficient_scope\", error_description=\"the role EXTERNAL_API_CLIENT is needed\""), null);
            }
            if (e instanceof WebApplicationException w && w.getResponse().getStatus() < 500) {
                Map<String, String> felder = new LinkedHashMap<>();
                String allow = w.getResponse().getHeaderString(HttpHeaders.ALLOW);
                if (allow != null) {
                    // Jersey forgets the HEAD that it answers
                    felder.put(HttpHeaders.ALLOW, allow.contains("GET") && !allow.contains("HEAD") ? "HEAD," + allow : allow);
                }
                int status = w.getResponse().getStatus();
                if (uri.getPath().matches(".*/(token|revoke)") && (status == 400 || status == 415)) {
                    Map<String, Object> m = new LinkedHashMap<>();
                    m.put("error", "invalid_request");
                    m.put("error_description", "the request could not be read");
                    return Response.status(400).type("application/json").header("Cache-Control", "no-store").header("Pragma", "no-cache").entity(m).build();
                }
                return antwort(status, switch (status) {
                    case 404 -> "Unter dieser Adresse gibt es nichts.";
                    case 405 -> "Diese Methode gibt es hier nicht.";
                    case 406 -> "Angeboten wird nur application/json.";
                    default -> "Die Anfrage ist nicht lesbar.";
                }, uri, felder, null);
            }
            LoggerFactory.getLogger(Fehler.class).error("unexpected", e);
            return antwort(500, "Die Anfrage ist gescheitert.", uri, Map.of(), null);
        }
    }

    public static class Parameter implements ExceptionMapper<JerseyViolationException> {
        @Context
        UriInfo uri;

        @Override
        public Response toResponse(JerseyViolationException e) {
            List<Map<String, String>> liste = new ArrayList<>();
            for (ConstraintViolation<?> v : e.getConstraintViolations()) {
                String name = "?";
                for (Path.Node n : v.getPropertyPath()) {
                    if (n.getName() != null && !n.getName().startsWith("<")) {
                        name = n.getName();
                    }
                }
                liste.add(Map.of("name", name, "grund", v.getMessage()));
            }
            return antwort(400, "Ein Parameter ist unzulässig.", uri, Map.of(), liste);
        }
    }

    /** what Jetty answers by itself */
    public static class Seite extends ErrorHandler {
        private final ObjectMapper json = new ObjectMapper();

        @Override
        public void handle(String target, Request base, HttpServletRequest request, HttpServletResponse response) throws IOException {
            base.setHandled(true);
            int status = response.getStatus();
            response.setHeader("Cache-Control", "no-store");
            if (status == 400 && request.getRequestURI().matches(".*/(token|revoke)")) {
                response.setContentType("application/json");
                response.setHeader("Pragma", "no-cache");
                response.getOutputStream().write(json.writeValueAsBytes(Map.of("error", "invalid_request")));
                return;
            }
            response.setContentType("application/problem+json");
            response.setHeader("Content-Language", "de");
            response.getOutputStream().write(json.writeValueAsBytes(inhalt(status,
                status < 500 ? "Die Anfrage ist nicht lesbar." : "Die Anfrage ist gescheitert.", request.getRequestURI(), null)));
        }

        @Override
        public java.nio.ByteBuffer badMessageError(int status, String reason, org.eclipse.jetty.http.HttpFields.Mutable fields) {
            fields.put("Content-Type", "application/problem+json");
            fields.put("Content-Language", "de");
            try {
                return java.nio.ByteBuffer.wrap(json.writeValueAsBytes(inhalt(status, "Die Anfrage ist nicht lesbar.", "/", null)));
            } catch (IOException e) {
                return null;
            }
        }
    }
}
