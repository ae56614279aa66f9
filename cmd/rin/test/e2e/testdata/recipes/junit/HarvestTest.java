import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.*;
import java.net.URI;
import java.net.http.*;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A client that reads all fundings, and its tests. HASTY=1 makes it ignore Retry-After, so that the extension must fail the test. */
class HarvestTest {
  @RegisterExtension Sandbox sandbox = new Sandbox();

  private static JsonNode fetch(HttpRequest request) throws Exception {
    for (int attempt = 0; attempt < 5; attempt++) {
      var answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
      if (answer.statusCode() == 200) return new ObjectMapper().readTree(answer.body());
      if (System.getenv("HASTY") == null) Thread.sleep(1000 * Long.parseLong(answer.headers().firstValue("Retry-After").orElseThrow()));
    }
    throw new IllegalStateException("gave up");
  }

  private int harvest() throws Exception {
    var form = "grant_type=client_credentials&client_id=" + sandbox.id + "&client_secret=" + sandbox.client.get("clientSecret").asText();
    var token = fetch(HttpRequest.newBuilder(URI.create(sandbox.urls.get("tokenUrl").asText()))
        .header("Content-Type", "application/x-www-form-urlencoded").POST(HttpRequest.BodyPublishers.ofString(form)).build());
    return fetch(HttpRequest.newBuilder(URI.create(sandbox.urls.get("fundingsUrl").asText()))
        .header("Authorization", "Bearer " + token.get("access_token").asText()).build()).size();
  }

  @Test void readsAllFundings() throws Exception { assertTrue(harvest() > 200); }

  @Test void waitsWhenTheNodeIsNotAvailable() throws Exception {
    sandbox.play("503-twice");
    assertTrue(harvest() > 200);
  }
}
