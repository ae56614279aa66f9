module clients.example/right

go 1.26.0

require (
	github.com/hashicorp/go-retryablehttp v0.7.8
	golang.org/x/oauth2 v0.38.0
	golang.org/x/sync v0.25.0
	golang.org/x/time v0.16.0
)

require github.com/hashicorp/go-cleanhttp v0.5.2 // indirect
