package donau;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Helpers for messages: decoding, conditional requests, content negotiation, answers. */
final class Http {
  static final DateTimeFormatter IMF = DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.ENGLISH).withZone(ZoneOffset.UTC);

  static final class Problem extends RuntimeException {
    final int status; final String slug, title; final JsonArray params = new JsonArray();
    Problem(int status, String slug, String title, String detail) { super(detail, null, false, false); this.status = status; this.slug = slug; this.title = title; }
    Problem param(String name, String reason) { params.add(new JsonObject().put("name", name).put("reason", reason)); return this; }
    JsonObject body() {
      JsonObject o = new JsonObject().put("type", "urn:donau:problem:" + slug).put("title", title).put("status", status).put("detail", getMessage());
      if (!params.isEmpty()) o.put("invalidParams", params);
      return o;
    }
  }

  static Problem badParam(String name, String reason) {
    return new Problem(400, "invalid-parameter", "Invalid parameter", "The parameter " + name.replaceAll("[^A-Za-z0-9_.-]", "?") + " cannot be used: " + reason + ".").param(name, reason);
  }

  static final class BadEncoding extends Exception { }

  static String decode(String s, boolean plus) throws BadEncoding {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (int i = 0; i < s.length(); i++) {
      char c = s.charAt(i);
      if (c == '%') {
        if (i + 2 >= s.length()) throw new BadEncoding();
        int h = Character.digit(s.charAt(i + 1), 16), l = Character.digit(s.charAt(i + 2), 16);
        if (h < 0 || l < 0 || s.charAt(i + 1) > 127 || s.charAt(i + 2) > 127) throw new BadEncoding();
        out.write(h * 16 + l); i += 2;
      } else if (c == '+' && plus) out.write(' ');
      else if (c > 255) throw new BadEncoding();
      else out.write(c);
    }
    try { return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(out.toByteArray())).toString(); }
    catch (java.nio.charset.CharacterCodingException e) { throw new BadEncoding(); }
  }

  static List<Map.Entry<String, String>> form(String s) throws BadEncoding {
    List<Map.Entry<String, String>> r = new ArrayList<>();
    if (s == null || s.isEmpty()) return r;
    for (String p : s.split("&")) {
      if (p.isEmpty()) continue;
      int e = p.indexOf('=');
      r.add(Map.entry(decode(e < 0 ? p : p.substring(0, e), true), e < 0 ? "" : decode(p.substring(e + 1), true)));
    }
    return r;
  }

  static String enc(String s) {
    StringBuilder b = new StringBuilder();
    for (byte x : s.getBytes(StandardCharsets.UTF_8)) {
      char c = (char) (x & 255);
      if (c < 128 && (Character.isLetterOrDigit(c) || "-._~".indexOf(c) >= 0)) b.append(c); else b.append(String.format("%%%02X", (int) c));
    }
    return b.toString();
  }

  static String joined(HttpServerRequest q, String name) {
    List<String> l = q.headers().getAll(name);
    return l.isEmpty() ? null : String.join(", ", l);
  }

  /** Weight of each element of a weighted list: name (lower case) to q; elements that cannot be read are left out. */
  static List<Map.Entry<String, Double>> weights(String header) {
    List<Map.Entry<String, Double>> r = new ArrayList<>();
    for (String e : header.split(",")) {
      String[] p = e.trim().split(";");
      String name = p[0].trim().toLowerCase(Locale.ROOT);
      if (name.isEmpty()) continue;
      double w = 1;
      boolean bad = false;
      for (int i = 1; i < p.length; i++) {
        String t = p[i].trim().toLowerCase(Locale.ROOT);
        if (t.startsWith("q=")) {
          if (t.matches("q=(0(\\.[0-9]{0,3})?|1(\\.0{0,3})?)")) w = Double.parseDouble(t.substring(2)); else bad = true;
        }
      }
      if (!bad) r.add(Map.entry(name, w));
    }
    return r;
  }

  static boolean acceptsJson(String accept, String subtype) {
    if (accept == null || accept.isBlank()) return true;
    int best = -1; double q = 0;
    for (var e : weights(accept)) {
      int s = e.getKey().equals("application/" + subtype) ? 2 : e.getKey().equals("application/*") ? 1 : e.getKey().equals("*/*") ? 0 : -1;
      if (s > best) { best = s; q = e.getValue(); } else if (s == best && s >= 0) q = Math.max(q, e.getValue());
    }
    return best >= 0 && q > 0;
  }

  /** Lookup (RFC 4647, 3.4) over de and en; German if nothing fits. */
  static String language(String header) {
    if (header == null) return "de";
    double de = -1, en = -1, star = -1;
    for (var e : weights(header)) {
      String n = e.getKey();
      if (n.equals("*")) star = Math.max(star, e.getValue());
      else if (n.equals("de") || (n.startsWith("de-") && e.getValue() > 0)) de = Math.max(de, e.getValue());
      else if (n.equals("en") || (n.startsWith("en-") && e.getValue() > 0)) en = Math.max(en, e.getValue());
    }
    if (de < 0) de = star; if (en < 0) en = star;
    if (en > 0 && en > de) return "en";
    if (de == 0 && en != 0) return "en";
    return "de";
  }

  static String etag(Buffer b, String salt) {
    try {
      MessageDigest d = MessageDigest.getInstance("SHA-256");
      d.update(salt.getBytes(StandardCharsets.UTF_8)); d.update(b.getBytes());
      return "\"" + HexFormat.of().formatHex(d.digest(), 0, 10) + "\"";
    } catch (Exception e) { throw new IllegalStateException(e); }
  }

  static List<String> tags(String header) {
    List<String> r = new ArrayList<>();
    var m = java.util.regex.Pattern.compile("\\*|(?:W/)?\"[\\x21\\x23-\\x7e\\x80-\\xff]*\"").matcher(header);
    while (m.find()) r.add(m.group());
    return r;
  }

  static Instant httpDate(String s) {
    if (s == null) return null;
    for (String f : new String[] {"EEE, dd MMM yyyy HH:mm:ss 'GMT'", "EEE MMM ppd HH:mm:ss yyyy"}) {
      try { return java.time.LocalDateTime.parse(s.trim(), DateTimeFormatter.ofPattern(f, Locale.ENGLISH)).toInstant(ZoneOffset.UTC); } catch (Exception e) { /* next form */ }
    }
    try {
      var f = new java.time.format.DateTimeFormatterBuilder().appendPattern("EEEE, dd-MMM-").appendValueReduced(java.time.temporal.ChronoField.YEAR, 2, 2, ZonedDateTime.now().getYear() - 49).appendPattern(" HH:mm:ss 'GMT'").toFormatter(Locale.ENGLISH);
      return java.time.LocalDateTime.parse(s.trim(), f).toInstant(ZoneOffset.UTC);
    } catch (Exception e) { return null; }
  }

  static void end(HttpServerRequest q, int status, Buffer body) {
    HttpServerResponse r = q.response();
    if (r.ended() || r.closed()) return;
    r.setStatusCode(status).putHeader("Date", IMF.format(Instant.now())).putHeader("X-Content-Type-Options", "nosniff");
    if (status == 204 || status == 304) { r.end(); return; }
    r.putHeader("Content-Length", Integer.toString(body.length()));
    if (q.method().equals(HttpMethod.HEAD)) r.end(); else r.end(body);
  }

  static void problem(HttpServerRequest q, Problem p) {
    q.response().putHeader("Content-Type", "application/problem+json").putHeader("Cache-Control", "no-store");
    end(q, p.status, p.body().toBuffer());
  }

  /** Answers GET or HEAD with one representation, after the preconditions in the order of RFC 9110, 13.2.2. */
  static void representation(HttpServerRequest q, JsonObject headers, Buffer body, String tag, Instant modified) {
    HttpServerResponse r = q.response();
    for (String h : headers.fieldNames()) r.putHeader(h, (Iterable<String>) List.of(headers.getString(h).split("\n")));
    r.putHeader("ETag", tag);
    if (modified != null) r.putHeader("Last-Modified", IMF.format(modified));
    String ifMatch = joined(q, "If-Match"), ifNone = joined(q, "If-None-Match");
    Instant unmodified = httpDate(q.getHeader("If-Unmodified-Since")), since = httpDate(q.getHeader("If-Modified-Since"));
    boolean failed = ifMatch != null ? tags(ifMatch).stream().noneMatch(t -> t.equals("*") || t.equals(tag))
        : unmodified != null && modified != null && modified.isAfter(unmodified);
    if (failed) {
      for (String h : new String[] {"ETag", "Last-Modified", "Content-Language", "Link"}) r.headers().remove(h);
      problem(q, new Problem(412, "precondition-failed", "Precondition failed", "The record is not in the state that the request asks for."));
      return;
    }
    boolean same = ifNone != null ? tags(ifNone).stream().anyMatch(t -> t.equals("*") || t.replaceFirst("^W/", "").equals(tag))
        : since != null && modified != null && !modified.isAfter(since);
    if (same) { end(q, 304, null); return; }
    r.putHeader("Content-Type", "application/json");
    end(q, 200, body);
  }

  private Http() { }
}
