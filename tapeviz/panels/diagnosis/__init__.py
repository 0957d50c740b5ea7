"""The dock with a card for each gradient asked for."""
