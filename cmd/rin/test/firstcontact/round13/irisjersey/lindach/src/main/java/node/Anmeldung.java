package node;

import static node.Main.*;

import jakarta.ws.rs.*;
import jakarta.ws.rs.core.*;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.*;
import java.security.*;
import java.util.*;
import java.util.concurrent.ConcurrentHashMap;

/** The authorization server of one environment: tokens are opaque and live in memory. */
@Path("/auth/realms/lindach/protocol/openid-connect")
public class Anmeldung {
    static final long DAUER = 75_000;
    static final String ROLLE = "EXTERNAL_API_CLIENT";

    record Konto(String id, String geheimnis, String dienstkonto, String zugehoerigkeit, List<String> rollen, String api) {}

    static final class Zugang {
        final Konto konto;
        volatile long bis = System.currentTimeMillis() + DAUER;
        volatile boolean widerrufen;

        Zugang(Konto konto) {
            this.konto = konto;
        }
    }

    /** What one environment knows. */
    static final class Umgebung {
        final Map<String, Konto> konten = new HashMap<>();
        final Map<String, Zugang> zugaenge = new ConcurrentHashMap<>();

        Umgebung(Konto... liste) {
            for (Konto k : liste) konten.put(k.id, k);
        }

        Zugang zugang(String token) {
            Zugang z = zugaenge.get(hash(token));
            return z == null || z.bis <= System.currentTimeMillis() ? null : z;
        }
    }

    static final Umgebung PRODUKTION = new Umgebung(
        new Konto("lindach-app", "q%5/W=&a:~!+Zr8 u%2F", "svc-0001", "ORG-77", List.of(ROLLE), "ris"),
        new Konto("lindach-gast", "h+%25=:/~&!No role", "svc-0002", "ORG-78", List.of(), "ris"),
        new Konto("lindach-projekte", "%zz+Projekt=&:/~!", "svc-0003", "ORG-79", List.of(ROLLE), "projekte"),
        new Konto("lindach:reserve/2", "~!Res%3A+er/ve=&:x", "svc-0004", "ORG-80", List.of(ROLLE), "ris"));
    static final Umgebung TEST = new Umgebung(new Konto("lindach-test", "t+e%s/t=&:~!%7E", "svc-t001", "ORG-T", List.of(ROLLE), "ris"));

    private static final SecureRandom ZUFALL = new SecureRandom();
    private final String name;
    private final Umgebung umgebung;

    Anmeldung(String name, Umgebung umgebung) {
        this.name = name;
        this.umgebung = umgebung;
    }

    static String hash(String text) {
        return HexFormat.of().formatHex(sha(text));
    }

    static byte[] sha(String text) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    static final class Abgelehnt extends Exception {
        final int status;

        Abgelehnt(int status, String code) {
            super(code);
            this.status = status;
        }
    }

    /** Decodes application/x-www-form-urlencoded strictly; null if it is not well-formed. */
    static String decode(String s) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] in = s.getBytes(StandardCharsets.UTF_8);
        for (int i = 0; i < in.length; i++) {
            if (in[i] == '+') {
                out.write(' ');
            } else if (in[i] == '%') {
                int high = i + 2 < in.length ? Character.digit(in[i + 1], 16) : -1, low = i + 2 < in.length ? Character.digit(in[i + 2], 16) : -1;
                if (high < 0 || low < 0) return null;
                out.write(high * 16 + low);
                i += 2;
            } else {
                out.write(in[i]);
            }
        }
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(out.toByteArray())).toString();
        } catch (CharacterCodingException e) {
            return null;
        }
    }

    /** The parameters of the body: each at most once, empty ones as if omitted. */
    private Map<String, String> formular(HttpHeaders headers, byte[] body) throws Abgelehnt {
        String type = Objects.requireNonNullElse(headers.getHeaderString("Content-Type"), "").split(";")[0].trim();
        if (!type.equalsIgnoreCase("application/x-www-form-urlencoded") || body.length > 16384) throw new Abgelehnt(400, "invalid_request");
        Map<String, String> felder = new HashMap<>();
        for (String paar : new String(body, StandardCharsets.UTF_8).split("&")) {
            if (paar.isEmpty()) continue;
            String[] p = paar.split("=", 2);
            String k = decode(p[0]), v = p.length == 1 ? "" : decode(p[1]);
            if (k == null || v == null || felder.put(k, v) != null) throw new Abgelehnt(400, "invalid_request");
        }
        felder.values().removeIf(String::isEmpty);
        return felder;
    }

    private Konto pruefe(String id, String geheimnis) throws Abgelehnt {
        Konto k = umgebung.konten.get(id);
        if (!MessageDigest.isEqual(sha(geheimnis), sha(k == null ? "" : k.geheimnis)) || k == null) throw new Abgelehnt(401, "invalid_client");
        return k;
    }

    /** The client, by HTTP Basic or by the form, never by both. */
    private Konto konto(HttpHeaders headers, Map<String, String> felder) throws Abgelehnt {
        List<String> kopf = headers.getRequestHeader("Authorization");
        String id = felder.get("client_id"), geheimnis = felder.get("client_secret");
        if (kopf == null || kopf.isEmpty()) {
            if (id == null || geheimnis == null) throw new Abgelehnt(401, "invalid_client");
            return pruefe(id, geheimnis);
        }
        String[] teile = kopf.get(0).trim().split(" +", 2);
        String user = null, pass = null;
        try {
            String[] p = new String(Base64.getDecoder().decode(teile.length < 2 ? "" : teile[1].trim()), StandardCharsets.UTF_8).split(":", 2);
            if (p.length == 2) {
                user = decode(p[0]);
                pass = decode(p[1]);
            }
        } catch (IllegalArgumentException e) {
            user = null;
        }
        if (!teile[0].equalsIgnoreCase("Basic") || user == null || pass == null) throw new Abgelehnt(401, "invalid_client");
        if (kopf.size() > 1 || geheimnis != null || id != null && !id.equals(user)) throw new Abgelehnt(400, "invalid_request");
        return pruefe(user, pass);
    }

    private Response antwort(Response.ResponseBuilder b) {
        return b.type("application/json").header("Cache-Control", "no-store").header("Pragma", "no-cache").build();
    }

    private Response abgelehnt(Abgelehnt e) {
        Response.ResponseBuilder b = Response.status(e.status).entity(json(map("error", e.getMessage())));
        if (e.status == 401) b.header("WWW-Authenticate", "Basic realm=\"" + name + "\", charset=\"UTF-8\"");
        return antwort(b);
    }

    private static String neu() {
        byte[] b = new byte[NODE.equals("rust") ? 1000 : 32];
        ZUFALL.nextBytes(b);
        if (NODE.equals("rust")) return "~." + Base64.getEncoder().encodeToString(b).replace("A", "-").replace("B", "_") + "=="; // every character of b64token (RFC 6750, 2.1)
        return Base64.getUrlEncoder().withoutPadding().encodeToString(b);
    }

    @POST
    @Path("token")
    public Response token(@Context HttpHeaders headers, byte[] body) {
        try {
            Map<String, String> felder = formular(headers, body);
            Konto k = konto(headers, felder);
            String grant = felder.get("grant_type");
            if (grant == null) throw new Abgelehnt(400, "invalid_request");
            if (!grant.equals("client_credentials")) throw new Abgelehnt(400, "unsupported_grant_type");
            String token = neu();
            long jetzt = System.currentTimeMillis();
            umgebung.zugaenge.values().removeIf(z -> z.bis < jetzt);
            umgebung.zugaenge.put(hash(token), new Zugang(k));
            return antwort(Response.ok(json(map("access_token", token, "token_type", "Bearer", "expires_in", DAUER / 1000, "scope", "ris"))));
        } catch (Abgelehnt e) {
            return abgelehnt(e);
        }
    }

    /** RFC 7662; a client learns about its own tokens only. */
    @POST
    @Path("token/introspect")
    public Response auskunft(@Context HttpHeaders headers, byte[] body) {
        try {
            Map<String, String> felder = formular(headers, body);
            Konto k = konto(headers, felder);
            if (!felder.containsKey("token")) throw new Abgelehnt(400, "invalid_request");
            Zugang z = umgebung.zugang(felder.get("token"));
            if (z == null || z.widerrufen || z.konto != k) return antwort(Response.ok(json(map("active", false))));
            return antwort(Response.ok(json(map("active", true, "client_id", k.id, "sub", k.dienstkonto, "token_type", "Bearer", "scope", "ris", "exp", z.bis / 1000, "aud", k.api))));
        } catch (Abgelehnt e) {
            return abgelehnt(e);
        }
    }

    /** RFC 7009; a client revokes its own tokens only. */
    @POST
    @Path("revoke")
    public Response widerruf(@Context HttpHeaders headers, byte[] body) {
        try {
            Map<String, String> felder = formular(headers, body);
            Konto k = konto(headers, felder);
            if (!felder.containsKey("token")) throw new Abgelehnt(400, "invalid_request");
            Zugang z = umgebung.zugang(felder.get("token"));
            if (z != null && z.konto != k) throw new Abgelehnt(400, "unauthorized_client");
            if (z != null) z.widerrufen = true;
            return antwort(Response.ok(json(map())));
        } catch (Abgelehnt e) {
            return abgelehnt(e);
        }
    }

    /** The same for trying the flow. */
    @Path("/auth-test/oauth")
    public static class Test {
        private final Anmeldung test = new Anmeldung("lindach-test", TEST);

        @POST
        @Path("token")
        public Response token(@Context HttpHeaders headers, byte[] body) {
            return test.token(headers, body);
        }
    }
}
