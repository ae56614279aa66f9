import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.springframework.core.ParameterizedTypeReference;
import org.springframework.http.ResponseEntity;
import org.springframework.http.client.JdkClientHttpRequestFactory;
import org.springframework.security.oauth2.client.AuthorizedClientServiceOAuth2AuthorizedClientManager;
import org.springframework.security.oauth2.client.InMemoryOAuth2AuthorizedClientService;
import org.springframework.security.oauth2.client.OAuth2AuthorizeRequest;
import org.springframework.security.oauth2.client.OAuth2AuthorizedClientProviderBuilder;
import org.springframework.security.oauth2.client.registration.ClientRegistration;
import org.springframework.security.oauth2.client.registration.InMemoryClientRegistrationRepository;
import org.springframework.security.oauth2.core.AuthorizationGrantType;
import org.springframework.security.oauth2.core.ClientAuthenticationMethod;
import org.springframework.web.client.HttpClientErrorException;
import org.springframework.web.client.HttpServerErrorException;
import org.springframework.web.client.ResourceAccessException;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.RestClientResponseException;

public class SpringHarvest {
  private static final ParameterizedTypeReference<List<Map<String, Object>>> LIST = new ParameterizedTypeReference<>() {};
  private final InMemoryOAuth2AuthorizedClientService service;
  private final AuthorizedClientServiceOAuth2AuthorizedClientManager manager;
  private final RestClient rest;

  SpringHarvest() {
    var registration = ClientRegistration.withRegistrationId("node")
        .tokenUri(System.getenv("RIN_TOKEN_URL"))
        .clientId(System.getenv("RIN_CLIENT_ID"))
        .clientSecret(System.getenv("RIN_CLIENT_SECRET"))
        .clientAuthenticationMethod(ClientAuthenticationMethod.CLIENT_SECRET_BASIC)
        .authorizationGrantType(AuthorizationGrantType.CLIENT_CREDENTIALS).build();
    var registrations = new InMemoryClientRegistrationRepository(registration);
    service = new InMemoryOAuth2AuthorizedClientService(registrations);
    manager = new AuthorizedClientServiceOAuth2AuthorizedClientManager(registrations, service);
    manager.setAuthorizedClientProvider(OAuth2AuthorizedClientProviderBuilder.builder().clientCredentials().build());
    var factory = new JdkClientHttpRequestFactory();
    factory.setReadTimeout(Duration.ofSeconds(20));
    rest = RestClient.builder().requestFactory(factory).build();
  }

  private String token() {
    var request = OAuth2AuthorizeRequest.withClientRegistrationId("node").principal("harvest").build();
    for (int attempt = 0; ; attempt++) {
      try {
        return manager.authorize(request).getAccessToken().getTokenValue();
      } catch (RuntimeException refused) {
        if (attempt == 5) {
          throw refused;
        }
        sleep(1000L << attempt);
      }
    }
  }

  private ResponseEntity<List<Map<String, Object>>> page(int skip) {
    boolean renewed = false;
    for (int attempt = 0; ; attempt++) {
      try {
        return rest.get()
            .uri(System.getenv("RIN_FUNDINGS_URL") + "?page[page]={skip}&page[size]={size}", skip, 100)
            .headers(headers -> headers.setBearerAuth(token())).retrieve().toEntity(LIST);
      } catch (HttpClientErrorException.Unauthorized refused) {
        if (renewed) {
          throw refused;
        }
        renewed = true;
        service.removeAuthorizedClient("node", "harvest");
      } catch (HttpClientErrorException.TooManyRequests | HttpServerErrorException busy) {
        if (attempt == 5) {
          throw busy;
        }
        sleep(pause((RestClientResponseException) busy, attempt));
      } catch (ResourceAccessException cut) {
        if (attempt == 5) {
          throw cut;
        }
        sleep(500L << attempt);
      }
    }
  }

  private static long pause(RestClientResponseException busy, int attempt) {
    var headers = busy.getResponseHeaders();
    String value = headers == null ? null : headers.getFirst("Retry-After");
    if (value == null) {
      return 500L << attempt;
    }
    if (value.matches("\\d+")) {
      return Long.parseLong(value) * 1000;
    }
    return Math.max(500L, headers.getFirstDate("Retry-After") - System.currentTimeMillis());
  }

  private static void sleep(long millis) {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException interrupted) {
      throw new IllegalStateException(interrupted);
    }
  }

  public static void main(String[] arguments) {
    var harvest = new SpringHarvest();
    List<Map<String, Object>> all = new ArrayList<>();
    boolean more = true;
    for (int skip = 0; more; skip += 100) {
      var page = harvest.page(skip);
      all.addAll(page.getBody());
      String link = page.getHeaders().getFirst("Link");
      more = link != null && link.contains("rel=\"next\"");
    }
    System.out.println(all.size() + " fundings");
  }
}
