import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.nimbusds.oauth2.sdk.ClientCredentialsGrant;
import com.nimbusds.oauth2.sdk.TokenRequest;
import com.nimbusds.oauth2.sdk.TokenResponse;
import com.nimbusds.oauth2.sdk.auth.ClientSecretBasic;
import com.nimbusds.oauth2.sdk.auth.Secret;
import com.nimbusds.oauth2.sdk.http.HTTPResponse;
import com.nimbusds.oauth2.sdk.id.ClientID;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Nimbus' OAuth SDK for the token, java.net.http for the calls. */
public class NimbusHarvest {
  private static final Pattern NEXT = Pattern.compile("<([^>]+)>\\s*;\\s*rel=\"next\"");
  private final HttpClient http = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(5)).build();
  private final ObjectMapper mapper = new ObjectMapper();
  private String bearer;
  private Instant expiry = Instant.MIN;

  private void login() throws Exception {
    var request = new TokenRequest.Builder(
        URI.create(System.getenv("RIN_TOKEN_URL")),
        new ClientSecretBasic(new ClientID(System.getenv("RIN_CLIENT_ID")), new Secret(System.getenv("RIN_CLIENT_SECRET"))),
        new ClientCredentialsGrant()).build();
    for (int attempt = 0; ; attempt++) {
      HTTPResponse answer = request.toHTTPRequest().send();
      int status = answer.getStatusCode();
      if ((status == 429 || status >= 500) && attempt < 5) {
        Thread.sleep(pause(answer.getHeaderValue("Retry-After"), attempt).toMillis());
        continue;
      }
      var response = TokenResponse.parse(answer);
      if (!response.indicatesSuccess()) {
        throw new IOException("no token: " + response.toErrorResponse().getErrorObject());
      }
      var token = response.toSuccessResponse().getTokens().getAccessToken();
      bearer = token.toAuthorizationHeader();
      expiry = token.getLifetime() > 0 ? Instant.now().plusSeconds(token.getLifetime()).minusSeconds(5) : Instant.MAX;
      return;
    }
  }

  private static Duration pause(String value, int attempt) {
    if (value != null) {
      try {
        return Duration.ofSeconds(Long.parseLong(value.trim()));
      } catch (NumberFormatException notSeconds) {
        try {
          var wait = Duration.between(Instant.now(), ZonedDateTime.parse(value, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant());
          return wait.isNegative() ? Duration.ZERO : wait;
        } catch (RuntimeException neither) {
          // fall back to the exponential pause
        }
      }
    }
    return Duration.ofMillis(500L << attempt);
  }

  private HttpResponse<String> get(URI uri) throws Exception {
    boolean renewed = false;
    for (int attempt = 0; ; attempt++) {
      if (bearer == null || Instant.now().isAfter(expiry)) {
        login();
      }
      var request = HttpRequest.newBuilder(uri).header("Authorization", bearer).header("Accept", "application/json")
          .timeout(Duration.ofSeconds(20)).build();
      HttpResponse<String> response;
      try {
        response = http.send(request, HttpResponse.BodyHandlers.ofString());
      } catch (IOException cut) {
        if (attempt == 5) {
          throw cut;
        }
        Thread.sleep(pause(null, attempt).toMillis());
        continue;
      }
      int status = response.statusCode();
      if (status == 401 && !renewed) {
        renewed = true;
        login();
      } else if ((status == 429 || status >= 500) && attempt < 5) {
        Thread.sleep(pause(response.headers().firstValue("Retry-After").orElse(null), attempt).toMillis());
      } else if (status != 200) {
        throw new IOException(uri + " answered " + status);
      } else {
        return response;
      }
    }
  }

  public static void main(String[] arguments) throws Exception {
    var harvest = new NimbusHarvest();
    URI uri = URI.create(System.getenv("RIN_FUNDINGS_URL") + "?page%5Bpage%5D=0&page%5Bsize%5D=50");
    int count = 0;
    while (uri != null) {
      HttpResponse<String> response = harvest.get(uri);
      JsonNode page = harvest.mapper.readTree(response.body());
      if (!page.isArray()) {
        throw new IOException("the answer is not a list");
      }
      count += page.size();
      Matcher next = NEXT.matcher(response.headers().firstValue("Link").orElse(""));
      uri = next.find() ? uri.resolve(next.group(1)) : null;
    }
    System.out.println(count + " fundings");
  }
}
