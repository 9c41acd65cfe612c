package secrets_test

import (
	"context"
	"fmt"

	"github.com/bailey-go/bailey/sandbox/secrets"
)

func ExampleRedact() {
	text, kinds := secrets.Redact(context.Background(), "db: postgres://app:Xq7-kd93Lm2@db.example/main\nretries: 3\n")
	fmt.Println(kinds)
	fmt.Print(text)
	// Output:
	// [password in an address]
	// db: postgres://app:[password in an address removed]@db.example/main
	// retries: 3
}
