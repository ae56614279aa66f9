module clients.example

go 1.26
