import payments_sdk.orders
