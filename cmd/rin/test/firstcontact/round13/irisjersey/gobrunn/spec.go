package main

import (
	_ "embed"
	"encoding/json"
	"strings"

	"github.com/kataras/iris/v12"
)

//go:embed openapi.json
var openapiText string

func openapi() string {
	if node == "murau" {
		openapiText = strings.Replace(openapiText, "There is no such call, or it is not published yet.",
			"There is no such call, or it is not published yet, or the account lacks the role EXTERNAL_API_CLIENT: such an account gets 404 everywhere.", 1)
		openapiText = strings.Replace(openapiText, "The account lacks the role EXTERNAL_API_CLIENT, or the token", "The token", 1)
		openapiText = strings.Replace(openapiText, "needs the role EXTERNAL_API_CLIENT for the funding API.", "needs the role EXTERNAL_API_CLIENT for the funding API; without it everything there is answered with 404.", 1)
		var doc map[string]any
		json.Unmarshal([]byte(openapiText), &doc)
		for _, path := range doc["paths"].(map[string]any) {
			path.(map[string]any)["get"].(map[string]any)["responses"].(map[string]any)["404"] = iris.Map{"$ref": "#/components/responses/NotFound"}
		}
		openapiText = string(encode(doc))
	}
	return strings.ReplaceAll(openapiText, "{{base}}", base)
}

const sampleCall = `{"id":"SAMPLE-1","type":"CALL","title":"Sample call","status":"OPEN","funder":"SAMPLE","regions":["AT-9"],"opens":"2026-01-01","deadline":null,"budget":{"amount":1000,"currency":"EUR"},"href":"/ris/tryout/funding/v3/calls/SAMPLE-1","summary":"A sample, not a real call.","targetGroups":["UNIVERSITY"],"followUp":null,"modified":"2026-01-01T00:00:00Z"}`

const sampleList = `{"items":[{"id":"SAMPLE-1","type":"CALL","title":"Sample call","status":"OPEN","funder":"SAMPLE","regions":["AT-9"],"opens":"2026-01-01","deadline":null,"budget":{"amount":1000,"currency":"EUR"},"href":"/ris/tryout/funding/v3/calls/SAMPLE-1"}],"page":1,"size":15,"total":1,"links":{"self":"/ris/tryout/funding/v3/calls?page=1&size=15","first":"/ris/tryout/funding/v3/calls?page=1&size=15","last":"/ris/tryout/funding/v3/calls?page=1&size=15"}}`

const reference = `<!doctype html><html lang="en"><title>Gobrunn Funding API</title><h1>Gobrunn Funding API</h1>
<p><a href="/ris/funding/v3/api-docs">Specification file (OpenAPI)</a>
<p>Try-out mode, no token needed, sample data: <a href="/ris/tryout/funding/v3/calls">/calls</a>, <a href="/ris/tryout/funding/v3/calls/SAMPLE-1">/calls/SAMPLE-1</a>
<p>Token endpoint and info endpoint: see the <a href="/network/registry.json">registry</a>. A staging environment with clients of its own is at /staging.</html>
`
