package at.alp;

import io.micronaut.context.annotation.Replaces;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.MutableHttpResponse;
import io.micronaut.http.hateoas.JsonError;
import io.micronaut.http.server.exceptions.ExceptionHandler;
import io.micronaut.http.server.exceptions.response.ErrorContext;
import io.micronaut.http.server.exceptions.response.ErrorResponseProcessor;
import io.micronaut.http.server.exceptions.response.HateoasErrorResponseProcessor;
import jakarta.inject.Singleton;

final class Errors {
    @Singleton
    @Replaces(HateoasErrorResponseProcessor.class)
    static class Processor implements ErrorResponseProcessor<JsonError> {
        @Override
        @SuppressWarnings("unchecked")
        public MutableHttpResponse<JsonError> processResponse(ErrorContext context, MutableHttpResponse<?> response) {
            int s = response.code();
            String detail = switch (s) {
                case 404 -> "There is nothing at this address.";
                case 405 -> "This method is not allowed here.";
                case 406 -> "Only JSON can be sent.";
                case 500 -> "Something went wrong here.";
                default -> context.hasErrors() ? context.getErrors().get(0).getMessage() : "The request cannot be served.";
            };
            return (MutableHttpResponse<JsonError>) Problem.fill(response, s, detail);
        }
    }

    @Singleton
    static class Handler implements ExceptionHandler<Problem, HttpResponse<?>> {
        @Override
        public HttpResponse<?> handle(HttpRequest request, Problem exception) { return exception.response(); }
    }

    private Errors() { }
}
