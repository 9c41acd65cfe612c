package frame

// Written by go test -update; a test compares them with the scripts.
const (
	outerHash    = "'sha256-yngXl060O49XY5QUYFrXYnK6anAM3caZM7WJlXI4ZI8='"
	documentHash = "'sha256-Q13LgyaAShyQwMhpq2hfymbA4XHFLa1cu2o13z4W230='"
	domainHash   = "'sha256-EUFkDccTHQiRVrfSKDCvqF5anHk4ouhHSYjWqCB7ZFE='"
	enclaveHash  = "'sha256-K456tQ6EjcaJWtPKTb9infbwwW1Q0uECmc51R2VgNxo='"
	domHash      = "'sha256-qOpXT6aA6Q32puM1vqziAzurjjoHpQWYyy4Pqi9Thoo='"
	appouterHash = "'sha256-76q5nmW1827RaqdGcSBlp1H+MJqLJNNgx7DU1/QvtBo='"
	appHash      = "'sha256-Yshtlquqk6DfwygsAoK1ORQg/0Cm0Mlk/DbSDf50o3c='"
)
