module vest.example/node

go 1.22
