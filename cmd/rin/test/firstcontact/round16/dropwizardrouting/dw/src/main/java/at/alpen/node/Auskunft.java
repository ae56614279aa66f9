package at.alpen.node;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What is public: registry, metadata of the authorization server, description of the API. */
@Path("/")
@Produces("application/json")
public class Auskunft {
    private final ObjectMapper json = new ObjectMapper();

    static String ursprung(UriInfo uri) {
        return "http://127.0.0.1:" + System.getenv().getOrDefault("PORT", "8080");
    }

    @GET
    @Path("verzeichnis/knoten.json")
    public Response knoten(@Context UriInfo uri) {
        Map<String, Object> m = new LinkedHashMap<>();
        m.put("id", "ALP");
        m.put("name", "Alpenverbund Forschungsförderung");
        m.put("oauth2", ursprung(uri) + "/" + Zugang.REALM + "/token");
        m.put("info", ursprung(uri) + "/alpen/info/v1/oauth/info/");
        return Response.ok(Map.of("member", List.of(m))).header("Cache-Control", "public, max-age=60").build();
    }

    @GET
    @Path(".well-known/oauth-authorization-server/realms/verbund")
    public Response metadaten(@Context UriInfo uri) {
        String realm = ursprung(uri) + "/realms/verbund";
        Map<String, Object> m = new LinkedHashMap<>();
        m.put("issuer", realm);
        m.put("token_endpoint", ursprung(uri) + "/" + Zugang.REALM + "/token");
        m.put("revocation_endpoint", ursprung(uri) + "/" + Zugang.REALM + "/revoke");
        m.put("response_types_supported", List.of("none"));
        m.put("grant_types_supported", List.of("client_credentials"));
        m.put("token_endpoint_auth_methods_supported", List.of("client_secret_basic", "client_secret_post"));
        m.put("revocation_endpoint_auth_methods_supported", List.of("client_secret_basic", "client_secret_post"));
        m.put("scopes_supported", List.of(TokenDienst.SCOPE));
        return Response.ok(m).header("Cache-Control", "public, max-age=60").build();
    }

    @GET
    @Path("alpen/funding/v3/api-docs")
    public Response beschreibung(@Context UriInfo uri) throws IOException {
        try (InputStream in = getClass().getResourceAsStream("/openapi.json")) {
            String text = new String(in.readAllBytes(), StandardCharsets.UTF_8).replace("http://node.invalid", ursprung(uri));
            ObjectNode dokument = (ObjectNode) json.readTree(text);
            ObjectNode info = (ObjectNode) dokument.get("info");
            String mehr = NodeConfiguration.is("dw-kiefer") ? "**Kurze Seiten.** Der Dienst liest für jede Seite höchstens `limit` Einträge und zeigt davon, was durch die Filter geht. Eine Seite kann also weniger Einträge haben als `limit`, auch gar keine, und doch eine nächste haben; zu Ende ist eine Liste erst, wenn Link keine nächste mehr nennt."
                : NodeConfiguration.is("dw-linde") ? "**Form der Token.** Ein Token ist bis zu 1000 Zeichen lang und besteht aus allen Zeichen, die RFC 6750, 2.1 erlaubt, auch `~`, `+`, `/`, `.` und `=`; in einem Formular sind sie zu kodieren."
                : NodeConfiguration.is("dw-ulme") ? "**Links.** Das Feld Link ist nach RFC 8288 zu lesen: es kann mehrfach vorkommen, Verweise können relativ zur Adresse der Anfrage sein, und ein Link kann mehrere Beziehungen und weitere Angaben haben."
                : null;
            if (mehr != null) {
                info.put("description", info.get("description").asText() + "\n\n" + mehr);
            }
            return Response.ok(json.writeValueAsBytes(dokument), "application/json").header("Cache-Control", "public, max-age=60").build();
        }
    }
}
