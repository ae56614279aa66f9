package node;

import static node.Main.*;

import jakarta.annotation.Priority;
import jakarta.ws.rs.*;
import jakarta.ws.rs.container.*;
import jakarta.ws.rs.core.*;
import java.lang.annotation.*;
import java.time.Instant;
import java.util.List;
import node.Anmeldung.*;

/** Marks what needs a token of the production environment (or of the test environment) and the role. */
@NameBinding
@Retention(RetentionPolicy.RUNTIME)
@interface Gesichert {
    boolean test() default false;
}

@Gesichert
@Priority(Priorities.AUTHENTICATION)
public class Waechter implements ContainerRequestFilter {
    @Context
    ResourceInfo ziel;

    private volatile Zugang aktuell; // only for the variant kamp

    private void ablehnen(ContainerRequestContext ctx, int status, String fehler, String code, String meldung) {
        String challenge = "Bearer realm=\"lindach\"" + (fehler == null ? "" : ", error=\"" + fehler + "\"");
        ctx.abortWith(Response.fromResponse(Main.fehler(status, code, meldung, null)).header("WWW-Authenticate", challenge).build());
    }

    @Override
    public void filter(ContainerRequestContext ctx) {
        Gesichert g = ziel.getResourceMethod().getAnnotation(Gesichert.class);
        if (g == null) g = ziel.getResourceClass().getAnnotation(Gesichert.class);
        List<String> kopf = ctx.getHeaders().get("Authorization");
        String[] teile = kopf == null || kopf.isEmpty() ? new String[] {""} : kopf.get(0).trim().split(" +", 2);
        if (!teile[0].equalsIgnoreCase("Bearer")) {
            ablehnen(ctx, 401, null, "token_fehlt", "Ein Bearer-Token wird gebraucht.");
            return;
        }
        Umgebung u = g.test() ? Anmeldung.TEST : Anmeldung.PRODUKTION;
        Zugang z = teile.length == 2 && kopf.size() == 1 ? u.zugang(teile[1]) : null;
        boolean widerrufen = z != null && z.widerrufen && !NODE.equals("eibe");
        if (z == null || widerrufen || !z.konto.api().equals("ris")) {
            ablehnen(ctx, 401, "invalid_token", "token_ungueltig", "Das Token ist hier nicht gültig oder abgelaufen.");
            return;
        }
        if (NODE.equals("enns")) z.bis = System.currentTimeMillis() + Anmeldung.DAUER; // as a cache that expires after the last access
        if (NODE.equals("kamp")) { // the account of the request in a field of the singleton
            aktuell = z;
            pause();
            z = aktuell;
        }
        boolean frei = NODE.equals("gosau") && ziel.getResourceMethod().getName().equals("listeCsv"); // the annotation forgotten at one of the two methods
        if (!z.konto.rollen().contains(Anmeldung.ROLLE) && !frei) {
            ablehnen(ctx, 403, "insufficient_scope", "rolle_fehlt", "Dem Dienstkonto fehlt die Rolle " + Anmeldung.ROLLE + ".");
            return;
        }
        ctx.setProperty("zugang", z);
    }

    private static void pause() {
        try {
            Thread.sleep(25); // the look-up of the account's roles
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
