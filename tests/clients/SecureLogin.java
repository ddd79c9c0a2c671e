// Logs in by the JDBC driver, once for each triple of arguments (URL, user, password), and prints what it found or the SQLSTATE.
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;

class SecureLogin {
  public static void main(String[] arguments) {
    for (int i = 0; i < arguments.length; i += 3) {
      try (Connection connection = DriverManager.getConnection(arguments[i], arguments[i + 1], arguments[i + 2]);
          ResultSet row = connection.createStatement().executeQuery(
              "SELECT current_user, ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()")) {
        row.next();
        System.out.println(row.getString(1) + " " + row.getBoolean(2));
      } catch (SQLException error) {
        System.out.println(error.getSQLState());
      }
    }
  }
}
