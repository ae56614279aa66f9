package org.rin.spring;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonSerializer;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.SerializerProvider;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.springframework.boot.autoconfigure.jackson.Jackson2ObjectMapperBuilderCustomizer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.MethodParameter;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.http.converter.HttpMessageConverter;
import org.springframework.http.server.ServerHttpRequest;
import org.springframework.http.server.ServerHttpResponse;
import org.springframework.web.HttpRequestMethodNotSupportedException;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.context.request.WebRequest;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.servlet.mvc.method.annotation.ResponseBodyAdvice;
import org.springframework.web.servlet.mvc.method.annotation.ResponseEntityExceptionHandler;

@Configuration
public class Web implements WebMvcConfigurer {

    private static final Set<String> SINGLE = Set.of("page", "size", "sort", "status", "funder", "minBudget", "openOn", "q");

    private final NodeProperties node;

    Web(NodeProperties node) {
        this.node = node;
    }

    /** An empty or repeated query parameter is an error of the client, not a missing parameter. */
    @Override
    public void addInterceptors(InterceptorRegistry registry) {
        registry.addInterceptor(new HandlerInterceptor() {
            @Override
            public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler) {
                request.getParameterMap().forEach((name, values) -> {
                    if (SINGLE.contains(name) && (values.length > 1 || values[0].isBlank())) {
                        throw new ResponseStatusException(HttpStatus.BAD_REQUEST,
                                "The parameter " + name + " must have exactly one value.");
                    }
                });
                return true;
            }
        }).addPathPatterns("/ris/funding/v3/calls");
    }

    @Bean
    Jackson2ObjectMapperBuilderCustomizer json() {
        return builder -> {
            if (node.is("spring-json-style")) {
                builder.featuresToEnable(SerializationFeature.INDENT_OUTPUT, JsonGenerator.Feature.ESCAPE_NON_ASCII,
                        DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS);
                builder.serializerByType(BigDecimal.class, new JsonSerializer<BigDecimal>() {
                    @Override
                    public void serialize(BigDecimal value, JsonGenerator out, SerializerProvider p) throws IOException {
                        BigDecimal plain = value.stripTrailingZeros();
                        out.writeNumber(plain.unscaledValue() + "E" + -plain.scale());
                    }
                });
            }
        };
    }

    @RestControllerAdvice
    static class Problems extends ResponseEntityExceptionHandler {

        @Override
        protected ResponseEntity<Object> handleHttpRequestMethodNotSupported(
                HttpRequestMethodNotSupportedException e, HttpHeaders headers, HttpStatusCode status, WebRequest request) {
            Set<HttpMethod> allowed = new LinkedHashSet<>(e.getSupportedHttpMethods() == null
                    ? Set.of() : e.getSupportedHttpMethods());
            if (allowed.contains(HttpMethod.GET)) {
                allowed.add(HttpMethod.HEAD);
            }
            allowed.add(HttpMethod.OPTIONS);
            headers.setAllow(allowed);
            return super.handleHttpRequestMethodNotSupported(e, headers, status, request);
        }

        @Override
        protected ResponseEntity<Object> createResponseEntity(Object body, HttpHeaders headers, HttpStatusCode status,
                                                              WebRequest request) {
            HttpHeaders all = new HttpHeaders();
            all.putAll(headers);
            all.setCacheControl("no-store");
            all.setContentType(MediaType.APPLICATION_PROBLEM_JSON);
            return new ResponseEntity<>(body, all, status);
        }

        @ExceptionHandler(Exception.class)
        ResponseEntity<Object> unexpected(Exception e, WebRequest request) {
            logger.error("unexpected", e);
            ProblemDetail body = ProblemDetail.forStatusAndDetail(HttpStatus.INTERNAL_SERVER_ERROR, "Internal error.");
            return createResponseEntity(body, new HttpHeaders(), HttpStatus.INTERNAL_SERVER_ERROR, request);
        }
    }

    @RestControllerAdvice
    static class Shuffle implements ResponseBodyAdvice<Object> {
        private final NodeProperties node;
        private final ObjectMapper mapper;

        Shuffle(NodeProperties node, ObjectMapper mapper) {
            this.node = node;
            this.mapper = mapper;
        }

        @Override
        public boolean supports(MethodParameter method, Class<? extends HttpMessageConverter<?>> converter) {
            return node.is("spring-json-style") && !converter.getSimpleName().startsWith("String");
        }

        @Override
        public Object beforeBodyWrite(Object body, MethodParameter method, MediaType type,
                                      Class<? extends HttpMessageConverter<?>> converter, ServerHttpRequest request,
                                      ServerHttpResponse response) {
            if (body == null || body instanceof ProblemDetail) {
                return body;
            }
            Object shuffled = shuffled(unordered(body));
            return shuffled instanceof List<?> list ? list.toArray() : shuffled;
        }

        private Object unordered(Object body) {
            return mapper.convertValue(body, Object.class);
        }

        private Object shuffled(Object value) {
            if (value instanceof Map<?, ?> map) {
                List<Map.Entry<?, ?>> entries = new ArrayList<>(map.entrySet());
                Collections.shuffle(entries);
                Map<Object, Object> copy = new LinkedHashMap<>();
                entries.forEach(e -> copy.put(e.getKey(), shuffled(e.getValue())));
                return copy;
            }
            return value instanceof List<?> list ? list.stream().map(this::shuffled).toList() : value;
        }
    }
}
