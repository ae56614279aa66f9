package at.forschung.node;

import java.io.IOException;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.apache.tomcat.util.http.InvalidParameterException;
import org.springframework.boot.tomcat.servlet.TomcatServletWebServerFactory;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.util.DigestUtils;
import org.springframework.web.HttpRequestMethodNotSupportedException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.context.request.WebRequest;
import org.springframework.web.filter.OncePerRequestFilter;
import org.springframework.web.servlet.mvc.method.annotation.ResponseEntityExceptionHandler;
import org.springframework.web.util.ContentCachingResponseWrapper;

@Configuration
class WebConfig {
    /** Weak tags, because the container may compress the answers. Behind the guard, before the controllers. */
    @Bean
    FilterRegistrationBean<OncePerRequestFilter> etags() {
        OncePerRequestFilter filter = new OncePerRequestFilter() {
            @Override
            protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain) throws ServletException, IOException {
                if (!request.getMethod().equals("GET") && !request.getMethod().equals("HEAD")) {
                    chain.doFilter(request, response);
                    return;
                }
                ContentCachingResponseWrapper copy = new ContentCachingResponseWrapper(response);
                chain.doFilter(request, copy);
                if (copy.getStatus() == 200) {
                    String tag = copy.getHeader(HttpHeaders.ETAG);
                    if (tag == null) {
                        tag = "W/\"" + DigestUtils.md5DigestAsHex(copy.getContentAsByteArray()) + "\"";
                        response.setHeader(HttpHeaders.ETAG, tag);
                    }
                    String match = request.getHeader(HttpHeaders.IF_NONE_MATCH);
                    if (match != null && matches(match, tag)) {
                        copy.resetBuffer();
                        response.setStatus(304);
                        return;
                    }
                }
                copy.copyBodyToResponse();
            }
        };
        FilterRegistrationBean<OncePerRequestFilter> bean = new FilterRegistrationBean<>(filter);
        bean.addUrlPatterns("/forschung/*", "/test/forschung/*", "/registry.json");
        bean.setOrder(100);
        return bean;
    }

    private static boolean matches(String header, String tag) {
        if (header.trim().equals("*")) return true;
        String opaque = tag.replaceFirst("^W/", "");
        return Arrays.stream(header.split(",")).anyMatch(t -> t.trim().replaceFirst("^W/", "").equals(opaque));
    }

    /** Browsers with many languages are welcome. */
    @Bean
    WebServerFactoryCustomizer<TomcatServletWebServerFactory> connector() {
        return factory -> factory.addConnectorCustomizers(c -> c.setMaxLocaleCount(500));
    }

    /** Problem details for all errors of Spring MVC; Allow names HEAD and OPTIONS, too. */
    @RestControllerAdvice
    static class Errors extends ResponseEntityExceptionHandler {
        /** A query or a form that the container cannot read. */
        @ExceptionHandler(InvalidParameterException.class)
        ResponseEntity<Object> malformed(InvalidParameterException e) {
            ProblemDetail problem = ProblemDetail.forStatusAndDetail(HttpStatusCode.valueOf(400), "Die Parameter sind nicht lesbar.");
            return ResponseEntity.badRequest().contentType(MediaType.APPLICATION_PROBLEM_JSON).header(HttpHeaders.CACHE_CONTROL, "no-store").body(problem);
        }

        @Override
        protected ResponseEntity<Object> handleHttpRequestMethodNotSupported(HttpRequestMethodNotSupportedException e, HttpHeaders headers, HttpStatusCode status, WebRequest request) {
            Set<HttpMethod> allow = new LinkedHashSet<>(e.getSupportedHttpMethods() == null ? Set.of() : e.getSupportedHttpMethods());
            if (allow.contains(HttpMethod.GET)) allow.add(HttpMethod.HEAD);
            allow.add(HttpMethod.OPTIONS);
            HttpHeaders more = new HttpHeaders();
            more.addAll(headers);
            more.setAllow(allow);
            return super.handleHttpRequestMethodNotSupported(e, more, status, request);
        }
    }

    /** A limit for the API: 6 requests a second, 12 at once, for each token; only where the operator wants it. */
    @Bean
    FilterRegistrationBean<OncePerRequestFilter> limits() {
        Map<String, double[]> buckets = new ConcurrentHashMap<>();
        OncePerRequestFilter filter = new OncePerRequestFilter() {
            @Override
            protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain) throws ServletException, IOException {
                String key = String.valueOf(request.getHeader(HttpHeaders.AUTHORIZATION));
                double[] b = buckets.computeIfAbsent(key, k -> new double[] { 12, System.nanoTime() });
                boolean free;
                synchronized (b) {
                    double now = System.nanoTime();
                    b[0] = Math.min(12, b[0] + (now - b[1]) / 1e9 * 6);
                    b[1] = now;
                    free = b[0] >= 1;
                    if (free) b[0]--;
                }
                if (!free) {
                    response.setHeader(HttpHeaders.RETRY_AFTER, "1");
                    SecurityConfig.problem(response, 429, "Too Many Requests", "Zu viele Anfragen.", null);
                    return;
                }
                try {
                    Thread.sleep(350);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
                chain.doFilter(request, response);
            }
        };
        FilterRegistrationBean<OncePerRequestFilter> bean = new FilterRegistrationBean<>(filter);
        bean.addUrlPatterns("/forschung/funding/*");
        bean.setOrder(90);
        bean.setEnabled(Application.is("busy"));
        return bean;
    }
}
