package at.alpen.node;

import io.dropwizard.auth.Auth;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.Response;
import java.nio.charset.StandardCharsets;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/** Token endpoints and info endpoints. */
@Path("/")
@Produces("application/json")
public class Zugang {
    static final String REALM = "realms/verbund/protocol/openid-connect";
    private final TokenDienst verbund;
    private final TokenDienst test;

    Zugang(TokenDienst verbund, TokenDienst test) {
        this.verbund = verbund;
        this.test = test;
    }

    @POST
    @Path(REALM + "/token")
    public Response token(@Context HttpHeaders h, byte[] body) {
        return verbund.token(h.getRequestHeader("Authorization"), h.getHeaderString("Content-Type"), new String(body, StandardCharsets.UTF_8));
    }

    @POST
    @Path(REALM + "/revoke")
    public Response widerruf(@Context HttpHeaders h, byte[] body) {
        return verbund.widerrufen(h.getRequestHeader("Authorization"), h.getHeaderString("Content-Type"), new String(body, StandardCharsets.UTF_8));
    }

    @POST
    @Path("alpen-test/oauth/token")
    public Response testToken(@Context HttpHeaders h, byte[] body) {
        return test.token(h.getRequestHeader("Authorization"), h.getHeaderString("Content-Type"), new String(body, StandardCharsets.UTF_8));
    }

    @GET
    @Path("alpen/info/v1/oauth/info/")
    public Response info(@Auth Konto konto) {
        return info(konto, "betrieb");
    }

    @GET
    @Path("alpen-test/info/v1/oauth/info/")
    public Response testInfo(@Auth Konto konto) {
        return info(konto, "test");
    }

    private Response info(Konto konto, String umgebung) {
        Map<String, Object> m = new LinkedHashMap<>();
        m.put("umgebung", umgebung);
        m.put("client_id", konto.client().id());
        m.put("dienstkonto", konto.client().user());
        m.put("rollen", List.copyOf(new TreeSet<>(konto.rollen())));
        m.put("einrichtung", konto.client().einrichtung());
        m.put("token_gilt_bis", konto.ablauf().truncatedTo(ChronoUnit.SECONDS).toString());
        return Response.ok(m).header("Cache-Control", "no-store").build();
    }
}
