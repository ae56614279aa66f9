package at.alpen.node;

import jakarta.ws.rs.core.Response;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.nio.ByteBuffer;
import java.io.ByteArrayOutputStream;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/** An authorization server: client credentials, opaque tokens. */
public class TokenDienst {
    static final int LEBENSDAUER = 72;
    static final String SCOPE = "funding:lesen";

    private final SecureRandom zufall = new SecureRandom();
    private final Map<String, Konto> ausgegeben = new ConcurrentHashMap<>();
    private final Map<String, Konten.Client> clients;
    final String realm;

    TokenDienst(String realm, Map<String, Konten.Client> clients) {
        this.realm = realm;
        this.clients = clients;
    }

    static class OAuthFehler extends Exception {
        final int status;
        final String fehler;
        final boolean aufforderung;

        OAuthFehler(int status, String fehler, String text, boolean aufforderung) {
            super(text);
            this.status = status;
            this.fehler = fehler;
            this.aufforderung = aufforderung;
        }

        OAuthFehler(String fehler, String text) {
            this(400, fehler, text, false);
        }
    }

    Response token(List<String> authorization, String contentType, String body) {
        try {
            Map<String, String> form = form(contentType, body);
            Konten.Client client = anmelden(authorization, form);
            String art = form.get("grant_type");
            if (art == null) {
                throw new OAuthFehler("invalid_request", "grant_type is missing");
            }
            if (!art.equals("client_credentials")) {
                throw new OAuthFehler("unsupported_grant_type", "only client_credentials is offered");
            }
            for (String s : form.getOrDefault("scope", SCOPE).split(" ", -1)) {
                if (!s.equals(SCOPE)) {
                    throw new OAuthFehler("invalid_scope", "the only scope is " + SCOPE);
                }
            }
            Instant jetzt = Instant.now();
            ausgegeben.values().removeIf(k -> !k.ablauf().isAfter(jetzt));
            byte[] wert = new byte[32];
            zufall.nextBytes(wert);
            String token = NodeConfiguration.is("dw-linde") ? lang() : Base64.getUrlEncoder().withoutPadding().encodeToString(wert);
            ausgegeben.put(token, new Konto(client, jetzt.plusSeconds(LEBENSDAUER)));
            Map<String, Object> antwort = new LinkedHashMap<>();
            antwort.put("access_token", token);
            antwort.put("token_type", NodeConfiguration.is("dw-linde") ? "bearer" : "Bearer");
            antwort.put("expires_in", LEBENSDAUER);
            antwort.put("scope", SCOPE);
            return ohneSpeichern(Response.ok(antwort)).build();
        } catch (OAuthFehler e) {
            return fehler(e);
        }
    }

    /** all that RFC 6750, 2.1 allows */
    private String lang() {
        String zeichen = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/";
        StringBuilder b = new StringBuilder("~.+/");
        for (int i = 0; i < 900; i++) {
            b.append(zeichen.charAt(zufall.nextInt(zeichen.length())));
        }
        return b.append("==").toString();
    }

    /** RFC 7009 */
    Response widerrufen(List<String> authorization, String contentType, String body) {
        try {
            Map<String, String> form = form(contentType, body);
            Konten.Client client = anmelden(authorization, form);
            String token = form.get("token");
            if (token == null) {
                throw new OAuthFehler("invalid_request", "token is missing");
            }
            Konto konto = pruefen(token).orElse(null);
            if (konto != null) {
                if (!konto.client().id().equals(client.id()) && !NodeConfiguration.is("dw-hasel")) {
                    throw new OAuthFehler("unauthorized_client", "the token belongs to another client");
                }
                ausgegeben.remove(token);
            }
            return ohneSpeichern(Response.ok()).build();
        } catch (OAuthFehler e) {
            return fehler(e);
        }
    }

    private Response fehler(OAuthFehler e) {
        Map<String, Object> antwort = new LinkedHashMap<>();
        antwort.put("error", e.fehler);
        antwort.put("error_description", e.getMessage());
        var b = ohneSpeichern(Response.status(e.status).entity(antwort));
        if (e.status == 401) {
            b.header("WWW-Authenticate", "Basic realm=\"" + realm + "\", charset=\"UTF-8\"");
        }
        return b.build();
    }

    private Response.ResponseBuilder ohneSpeichern(Response.ResponseBuilder b) {
        return b.header("Cache-Control", "no-store").header("Pragma", "no-cache").type("application/json");
    }

    private Konten.Client anmelden(List<String> authorization, Map<String, String> form) throws OAuthFehler {
        OAuthFehler abgelehnt = new OAuthFehler(401, "invalid_client", "client authentication failed", true);
        String id;
        String secret;
        if (authorization != null && authorization.size() > 1) {
            throw new OAuthFehler("invalid_request", "more than one Authorization field");
        }
        if (authorization != null && authorization.size() == 1) {
            String feld = authorization.get(0).trim();
            if (!feld.regionMatches(true, 0, "Basic ", 0, 6)) {
                throw abgelehnt;
            }
            String paar;
            try {
                paar = new String(Base64.getDecoder().decode(feld.substring(6).trim()), StandardCharsets.UTF_8);
            } catch (IllegalArgumentException e) {
                throw abgelehnt;
            }
            int punkt = paar.indexOf(':');
            if (punkt < 0) {
                throw abgelehnt;
            }
            id = dekodiert(paar.substring(0, punkt));
            secret = dekodiert(paar.substring(punkt + 1));
            if (form.containsKey("client_secret")) {
                throw new OAuthFehler("invalid_request", "more than one way of client authentication");
            }
            if (form.containsKey("client_id") && !form.get("client_id").equals(id)) {
                throw new OAuthFehler("invalid_request", "client_id differs from the Authorization field");
            }
        } else {
            id = form.get("client_id");
            secret = form.get("client_secret");
        }
        if (id == null || secret == null) {
            throw abgelehnt;
        }
        Konten.Client client = clients.get(id);
        String soll = client == null ? UUID.randomUUID().toString() : client.secret();
        if (!MessageDigest.isEqual(soll.getBytes(StandardCharsets.UTF_8), secret.getBytes(StandardCharsets.UTF_8))) {
            throw abgelehnt;
        }
        return client;
    }

    Optional<Konto> pruefen(String token) {
        Konto konto = ausgegeben.get(token);
        if (konto == null || !konto.ablauf().isAfter(Instant.now())) {
            return Optional.empty();
        }
        return Optional.of(konto);
    }

    /** application/x-www-form-urlencoded; no value means not sent (RFC 6749, 3.2) */
    private static Map<String, String> form(String contentType, String body) throws OAuthFehler {
        if (contentType != null && !contentType.split(";")[0].trim().equalsIgnoreCase("application/x-www-form-urlencoded")) {
            throw new OAuthFehler("invalid_request", "the body must be application/x-www-form-urlencoded");
        }
        Map<String, String> form = new LinkedHashMap<>();
        for (String stueck : (body == null ? "" : body).split("&")) {
            if (stueck.isEmpty()) {
                continue;
            }
            int gleich = stueck.indexOf('=');
            String name = dekodiert(gleich < 0 ? stueck : stueck.substring(0, gleich));
            String wert = gleich < 0 ? "" : dekodiert(stueck.substring(gleich + 1));
            if (name == null || wert == null) {
                throw new OAuthFehler("invalid_request", "the body is not well encoded");
            }
            if (form.put(name, wert) != null) {
                throw new OAuthFehler("invalid_request", "a parameter is sent twice");
            }
        }
        form.values().removeIf(String::isEmpty);
        return form;
    }

    /** percent-decoded, null if that is not possible */
    static String dekodiert(String s) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] in = s.getBytes(StandardCharsets.UTF_8);
        for (int i = 0; i < in.length; i++) {
            if (in[i] == '+') {
                out.write(' ');
            } else if (in[i] == '%') {
                if (i + 2 >= in.length || Character.digit(in[i + 1], 16) < 0 || Character.digit(in[i + 2], 16) < 0) {
                    return null;
                }
                out.write(Character.digit(in[i + 1], 16) * 16 + Character.digit(in[i + 2], 16));
                i += 2;
            } else {
                out.write(in[i]);
            }
        }
        try {
            return StandardCharsets.UTF_8.newDecoder().onMalformedInput(CodingErrorAction.REPORT)
                .onUnmappableCharacter(CodingErrorAction.REPORT).decode(ByteBuffer.wrap(out.toByteArray())).toString();
        } catch (CharacterCodingException e) {
            return null;
        }
    }
}
