module clients

go 1.22
