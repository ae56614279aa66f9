package node;

import static node.Main.*;

import jakarta.ws.rs.*;
import jakarta.ws.rs.container.ContainerRequestContext;
import jakarta.ws.rs.core.*;
import java.time.Instant;
import java.util.List;
import node.Anmeldung.Zugang;

/** The info endpoints of both environments. */
@Path("/")
public class Auskunft {
    private Response info(ContainerRequestContext ctx, String umgebung) {
        Zugang z = (Zugang) ctx.getProperty("zugang");
        return Response.ok(json(map("umgebung", umgebung, "client", z.konto.id(), "dienstkonto", z.konto.dienstkonto(), "zugehoerigkeit", z.konto.zugehoerigkeit(),
            "rollen", z.konto.rollen(), "gueltigBis", Instant.ofEpochMilli(z.bis).toString(),
            "endpoints", map("funding", List.of(map("name", "FUNDINGS", "majorVersion", 3, "minorVersion", 1, "url", BASE + Foerderungen.PFAD))))), "application/json").header("Cache-Control", "no-store").build();
    }

    @GET
    @Gesichert
    @Path("api/lindach/info/v1/oauth/info/")
    public Response produktion(@Context ContainerRequestContext ctx) {
        return info(ctx, "produktion");
    }

    @GET
    @Gesichert(test = true)
    @Path("api-test/lindach/info/v1/oauth/info/")
    public Response test(@Context ContainerRequestContext ctx) {
        return info(ctx, "test");
    }
}
